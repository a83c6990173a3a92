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
            Handle::Stopped if task.left_by.is_some() && !renewal.repetition.can_be_stopped => (
                "goes on when this function returns early",
                format!(
                    "an early return leaves the task that renews the lease `{}` running, so that the lease never ends",
                    renewal.lock
                ),
                "let a guard abort the task when it is dropped, or stop it on every way out",
            ),
            _ => continue,
        };
        let mut draft = Draft::new(task.started_at, label, message, help).lock(&renewal.lock);
        if let (Handle::Stopped, Some(exit)) = (task.handle, task.left_by) {
            draft = draft.related(exit, "this leaves without stopping it");
        }
        report.add(draft.related(renewal.repetition.call, "the lease is renewed here"));
    }
}
