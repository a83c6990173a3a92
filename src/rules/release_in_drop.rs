//! The only release is one that a destructor starts and nobody waits for.

use crate::locks::{Action, Inventory, Operation};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for sequence in &inventory.sequences {
        for release in sequence.operations.iter().filter(|operation| is_left_alone(operation)) {
            let key = &inventory.keys[release.key];
            if !key.is_lock() || has_awaited_release(inventory, release.key) {
                continue;
            }
            let place = release.spawned_at.unwrap_or(release.location);
            report.add(
                Draft::new(
                    place,
                    "nobody waits for this task",
                    format!(
                        "the lock `{}` is only ever released by a task that its guard's Drop starts: at shutdown the task is lost with its runtime, and the lock stays until its TTL ends",
                        key.name
                    ),
                    "give the guard an `async fn release(self)` that the normal path awaits, and keep Drop as the way out of a panic",
                )
                .lock(&key.name)
                .related_to_helper(place, release),
            );
        }
    }
}

fn is_left_alone(operation: &Operation) -> bool {
    matches!(operation.action, Action::Delete { .. })
        && operation.context.in_drop
        && operation.context.spawned
        && !operation.is_test
}

fn has_awaited_release(inventory: &Inventory, key: usize) -> bool {
    inventory.sequences.iter().any(|sequence| {
        sequence.operations.iter().any(|operation| {
            operation.key == key
                && matches!(operation.action, Action::Delete { .. })
                && !operation.context.in_drop
                && !operation.is_test
                && (!operation.via.is_empty() || sequence.is_called)
        })
    })
}
