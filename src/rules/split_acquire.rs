//! The lock is taken in one command and gets its expiry in another.

use crate::finding::Confidence;
use crate::locks::{Action, Inventory, Operation, Sequence, Ttl};
use crate::rules::edits::command;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for sequence in &inventory.sequences {
        for (at, acquire) in sequence.operations.iter().enumerate() {
            if !matches!(acquire.action, Action::Acquire { ttl: Ttl::None, .. })
                || acquire.is_test
                || acquire.context.in_script
            {
                continue;
            }
            let Some(expire) = later_expire(sequence, at, acquire) else { continue };
            if is_counter(inventory, acquire) {
                continue;
            }
            let key = &inventory.keys[acquire.key];
            let always = expire.after_acquire.is_none();
            let consequence = if always {
                "a crash between the two leaves it for ever, and the expiry is renewed by those who did not get it"
            } else {
                "a crash or a lost connection between the two leaves it for ever"
            };
            report.add(
                Draft::new(
                    acquire.location,
                    "takes the key without an expiry",
                    format!(
                        "`{}` is taken in one command and gets its expiry in another: {consequence}",
                        key.name
                    ),
                    "take it in one command: `SET key owner NX PX milliseconds`",
                )
                .related(expire.location, "the expiry comes here, in a command of its own")
                .confidence(if key.is_lock() { Confidence::High } else { Confidence::Medium })
                .lock(&key.name)
                .fix(command::acquire_with_expiry(acquire, expire)),
            );
        }
    }
}

/// The first expiry of the same key behind the acquire that is not sent in one transaction with it.
fn later_expire<'s>(sequence: &'s Sequence, at: usize, acquire: &Operation) -> Option<&'s Operation> {
    sequence.operations[at + 1..].iter().find(|operation| {
        let together = acquire.pipeline.is_some_and(|(pipeline, atomic)| {
            atomic && operation.pipeline.is_some_and(|(other, _)| other == pipeline)
        });
        let lost_race = operation.after_acquire.is_none() && !operation.checks.is_empty();
        operation.key == acquire.key
            && matches!(operation.action, Action::Expire { compared: false, .. })
            && !operation.context.in_script
            && !operation.context.spawned
            && !together
            && !lost_race
    })
}

fn is_counter(inventory: &Inventory, acquire: &Operation) -> bool {
    inventory
        .sequences
        .iter()
        .flat_map(|sequence| &sequence.operations)
        .any(|operation| operation.key == acquire.key && operation.action == Action::Increment)
}
