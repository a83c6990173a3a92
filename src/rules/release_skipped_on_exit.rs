//! An exit between acquire and release leaves the lock held.

use crate::finding::Severity;
use crate::locks::Inventory;
use crate::rules::{Draft, Reporter};

const HELP: &str = "run the work in an inner `async` block or function, release, and return its result then; or \
                    let a guard release in `Drop`";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for region in inventory.held_regions() {
        let Some((first, others)) = region.exits.split_first() else { continue };
        let lock = &region.lock;
        let (severity, message) = if region.ends_by_itself {
            (Severity::Info, format!("an exit here leaves the lock `{lock}` held until its TTL ends"))
        } else {
            (Severity::Warning, format!("an exit here leaves the lock `{lock}` held, and nothing ends it"))
        };
        let mut draft = Draft::new(*first, "leaves without the release", message, HELP)
            .severity(severity)
            .lock(lock)
            .related(region.acquired_at, "the lock is taken here")
            .related(region.released_at, "and released here");
        for other in others.iter().take(3) {
            draft = draft.related(*other, "another such exit");
        }
        report.add(draft);
    }
}
