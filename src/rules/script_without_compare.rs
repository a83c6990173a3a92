//! A Lua script that frees, overwrites or extends a lock without comparing the owner first.

use crate::locks::{Action, Inventory, Operation, Sequence};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for sequence in &inventory.sequences {
        for operation in sequence.operations.iter().filter(|operation| operation.context.in_script) {
            let key = &inventory.keys[operation.key];
            let Some(harm) = harm(&operation.action) else { continue };
            // A script may be the way in which a lock is taken: overwriting harms those who take it with NX.
            if matches!(operation.action, Action::Overwrite { .. }) && key.acquires.is_empty() {
                continue;
            }
            if operation.is_test
                || operation.token_in_key
                || !key.is_lock()
                || is_part_of_acquire(sequence, operation)
            {
                continue;
            }
            let mut draft = Draft::new(
                operation.inner,
                "has no comparison in front of it",
                format!("the script {harm} the lock `{}` whoever holds it", key.name),
                "let the script compare the stored value with the owner given as ARGV before it acts: `if redis.call('GET', KEYS[1]) == ARGV[1] then …`",
            )
            .lock(&key.name);
            if operation.inner != operation.location {
                draft = draft.related(operation.location, "the script runs here");
            }
            report.add(draft);
        }
    }
}

fn harm(action: &Action) -> Option<&'static str> {
    match action {
        Action::Delete { compared: false } => Some("deletes"),
        Action::Expire { compared: false, .. } => Some("extends"),
        Action::Overwrite { .. } => Some("overwrites"),
        _ => None,
    }
}

/// The script takes the lock itself, so that what it sets is its own.
fn is_part_of_acquire(sequence: &Sequence, operation: &Operation) -> bool {
    let takes = |other: &Operation| {
        other.context.in_script
            && other.key == operation.key
            && other.location == operation.location
            && other.action.is_acquire()
    };
    !matches!(operation.action, Action::Delete { .. }) && sequence.operations.iter().any(takes)
}
