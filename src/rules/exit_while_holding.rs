//! The process ends on the spot while it holds a lock.

use crate::locks::Inventory;
use crate::locks::regions::abrupt_ends;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for end in abrupt_ends(inventory) {
        let lock = &end.lock;
        let message = if end.is_beside {
            format!(
                "a signal ends the process here whatever its tasks are doing: one that holds the lock `{lock}` neither finishes nor releases it"
            )
        } else {
            format!(
                "the process ends here while it holds the lock `{lock}`: no destructor runs, nothing is rolled back, and the lock stays until its TTL ends"
            )
        };
        let mut draft = Draft::new(
            end.location,
            "ends the process without the release",
            message,
            "leave by `break` or `return`, cancel the work and await it, release the lock, and let `main` return; `std::process::ExitCode` carries the code",
        )
        .lock(lock)
        .related(end.acquired_at, "the lock is taken here");
        if end.called_at != end.location {
            draft = draft.related(end.called_at, "leads there while the lock is held");
        }
        if end.inner != end.location {
            draft = draft.related(end.inner, "the process ends here");
        }
        report.add(draft);
    }
}
