//! SIGTERM is heard, and the work under a lock is dropped where it stands.

use crate::locks::Inventory;
use crate::locks::regions::{LeftKind, LeftWork, left_work};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for left in left_work(inventory) {
        report.add(draft(&left));
    }
}

fn draft(left: &LeftWork) -> Draft {
    let lock = &left.lock;
    let (label, message) = match left.kind {
        LeftKind::Task => (
            "nobody waits for this task",
            format!(
                "on SIGTERM `main` returns without waiting for the task that holds the lock `{lock}`: the runtime drops it before its release, and the lock stays until its TTL ends"
            ),
        ),
        LeftKind::Future => (
            "the signal drops this future",
            format!(
                "the signal ends this `select!` while the lock `{lock}` is held: the future is dropped before its release, and the lock stays until its TTL ends"
            ),
        ),
    };
    let mut draft = Draft::new(
        left.location,
        label,
        message,
        "hand the work a `CancellationToken`, cancel it when the signal comes, and await the work, with its rollback and release, before `main` returns",
    )
    .lock(lock);
    if left.acquired_at != left.location {
        draft = draft.related(left.acquired_at, "the lock is taken here");
    }
    if left.released_at != left.acquired_at && left.released_at != left.location {
        draft = draft.related(left.released_at, "this release is not reached");
    }
    draft
}
