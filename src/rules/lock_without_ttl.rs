//! A lock that no command ever gives an expiry: a crash holds it for ever.

use crate::locks::{Action, Inventory, Operation, Ttl};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for sequence in &inventory.sequences {
        for acquire in &sequence.operations {
            if !matches!(acquire.action, Action::Acquire { ttl: Ttl::None, .. }) || acquire.is_test {
                continue;
            }
            let key = &inventory.keys[acquire.key];
            if !key.is_lock() || expires_somewhere(inventory, acquire) {
                continue;
            }
            report.add(
                Draft::new(
                    acquire.location,
                    "takes the lock for as long as the server runs",
                    format!("the lock `{}` has no expiry: a worker that dies while it holds it holds it for ever", key.name),
                    "give it a lifetime in the same command: `SET key owner NX PX milliseconds`, and renew it at a third of that",
                )
                .lock(&key.name),
            );
        }
    }
}

fn expires_somewhere(inventory: &Inventory, acquire: &Operation) -> bool {
    inventory.sequences.iter().flat_map(|sequence| &sequence.operations).any(|operation| {
        operation.key == acquire.key
            && matches!(
                operation.action,
                Action::Expire { .. } | Action::Overwrite { ttl: Ttl::Given(_) | Ttl::WallClock(_), .. }
            )
    })
}
