//! A local deadline that begins later than the lease.

use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for late in inventory.late_deadlines.iter().filter(|late| !late.is_test) {
        let request = if late.is_renewal { "renewal" } else { "acquire" };
        report.add(
            Draft::new(
                late.location,
                "the clock is read behind the reply",
                format!(
                    "the deadline of the lease `{}` is counted from after the reply of its {request}: the store counts from when it ran the command, so that the lease is over while this process still trusts it",
                    late.lock
                ),
                "read `Instant::now()` before the request is sent, and add the TTL less a margin for drift to that",
            )
            .lock(&late.lock)
            .confidence(if late.has_margin { Confidence::Medium } else { Confidence::High })
            .related(late.request, format!("the {request} is sent here")),
        );
    }
}
