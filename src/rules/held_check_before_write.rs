//! A look in memory at the lease is all that stands before a write.

use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::locks::regions::{CheckedWrite, checked_writes};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for write in checked_writes(inventory) {
        report.add(draft(&write));
    }
}

fn draft(write: &CheckedWrite) -> Draft {
    let target = &write.target;
    let asked = match &write.check.name {
        Some(name) => format!("`{name}`"),
        None => "a clock".to_owned(),
    };
    let help = match &write.token {
        Some(token) => format!(
            "keep the check as an early exit, and let the statement decide: `AND {token} < $token`, with a check that a row was changed"
        ),
        None => "keep the check as an early exit, and let the storage decide: pass the lease's fencing token, keep the newest one in the row, and write only `WHERE fencing_token < $token`".to_owned(),
    };
    let mut draft = Draft::new(
        write.location,
        "written after the check, and nothing refuses it",
        format!(
            "only {asked} says that the lease is still held when `{target}` is written: a pause behind that check outlasts the lease, and the write overwrites the next holder's"
        ),
        help,
    )
    .related(write.check.location, "the check is made here, in this process");
    if let Some(acquired) = write.acquired_at {
        draft = draft.related(acquired, "the lock is taken here");
    }
    if let Some(call) = write.call {
        draft = draft.related(call, "the statement is run here");
    }
    if let Some(lock) = &write.lock {
        draft = draft.lock(lock);
    }
    draft.confidence(confidence(write))
}

/// One look around a whole program is a switch for much that no lease protects.
fn confidence(write: &CheckedWrite) -> Confidence {
    match (write.depth, write.check.is_of_known_lease) {
        (0 | 1, true) => Confidence::High,
        (0 | 1, false) => Confidence::Medium,
        _ => Confidence::Low,
    }
}
