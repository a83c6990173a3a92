//! Input that was found but could not be read or parsed: everything else is still checked.

use crate::locks::Inventory;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for problem in &inventory.problems {
        report.add(Draft::new(
            problem.location(),
            "cannot be read as it stands",
            problem.message.clone(),
            problem.help.clone(),
        ));
    }
}
