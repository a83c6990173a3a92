//! A lock that nothing ever gives an expiry: a crash holds it for ever.

use crate::locks::endless_rows::{EndlessLockTable, endless_lock_tables};
use crate::locks::{Action, Inventory, Operation, Ttl};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    check_keys(inventory, report);
    check_rows(inventory, report);
}

fn check_keys(inventory: &Inventory, report: &mut Reporter<'_>) {
    for acquire in inventory.sequences.iter().flat_map(|sequence| &sequence.operations) {
        if !matches!(acquire.action, Action::Acquire { ttl: Ttl::None, .. }) || acquire.is_test {
            continue;
        }
        let key = &inventory.keys[acquire.key];
        if !key.is_lock() || expires_somewhere(inventory, acquire) {
            continue;
        }
        // Whoever leaves the expiry out is to blame: the caller that passes none, or the helper itself.
        let place = if acquire.expiry_from_caller { acquire.location } else { acquire.inner };
        let other = if acquire.expiry_from_caller { acquire.inner } else { acquire.location };
        let mut draft = Draft::new(
            place,
            "takes the lock for as long as the server runs",
            format!("the lock `{}` has no expiry: a worker that dies while it holds it holds it for ever", key.name),
            acquire.advice_on_acquire("give it a lifetime in the same command: `SET key owner NX PX milliseconds`, and renew it at a third of that"),
        )
        .lock(&key.name);
        if other != place {
            draft = draft.related(other, "the lock is taken through this");
        }
        report.add(draft);
    }
}

fn expires_somewhere(inventory: &Inventory, acquire: &Operation) -> bool {
    inventory.sequences.iter().flat_map(|sequence| &sequence.operations).any(|operation| {
        operation.key == acquire.key
            && matches!(
                operation.action,
                Action::Expire { .. }
                    | Action::Overwrite {
                        ttl: Ttl::Given(_) | Ttl::WallClock(_) | Ttl::UntilWallClock(_),
                        ..
                    }
            )
    })
}

fn check_rows(inventory: &Inventory, report: &mut Reporter<'_>) {
    for EndlessLockTable { table, declared } in endless_lock_tables(inventory) {
        let name = &table.name.name;
        report.add(
            Draft::new(
                declared,
                "has an owner and no moment at which a row ends",
                format!("a row of the lock table `{name}` never expires: a worker that dies while it holds it holds it for ever"),
                "add an expiry column that the database's own clock sets and that a take-over compares, such as `expires_at TIMESTAMPTZ NOT NULL`",
            )
            .lock(name),
        );
    }
}
