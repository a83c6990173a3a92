//! A suppression that does not say why: nobody can tell later whether it still holds.

use crate::locks::Inventory;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for suppression in inventory.suppressions.iter().filter(|suppression| !suppression.has_reason) {
        report.add(Draft::new(
            suppression.comment,
            "gives no reason",
            format!("`{}` is suppressed without a reason", suppression.rule),
            format!("say why the code is right: `leaselint: allow({}, reason = \"…\")`", suppression.rule),
        ));
    }
}
