//! A renewal loop in a task of its own that goes on when the work is over.

use crate::locks::{Handle, Inventory};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for renewal in inventory.renewal_loops() {
        let Some(task) = renewal.repetition.task else { continue };
        let (label, message, help) = match task.handle {
            Handle::Dropped if !renewal.repetition.can_be_stopped => (
                "its handle is dropped, and it listens to nothing",
                format!("nothing can stop the task that renews the lease `{}`", renewal.lock),
                "keep the handle and abort and await it before the release, or let the loop select on a \
                 cancellation token",
            ),
            Handle::StoppedAfterRelease => (
                "still runs when the lock is released",
                format!(
                    "the task that renews the lease `{}` is stopped only after its release",
                    renewal.lock
                ),
                "stop the task and await its handle before the release",
            ),
            _ => continue,
        };
        report.add(
            Draft::new(task.started_at, label, message, help)
                .lock(&renewal.lock)
                .related(renewal.repetition.call, "the lease is renewed here"),
        );
    }
}
