//! A lock of a database session, taken where the session is not ours to keep.

use std::collections::BTreeSet;

use crate::facts::Location;
use crate::locks::session::{LeftSession, PooledLock, locks_on_pools, resets_sessions};
use crate::locks::{Inventory, SessionAct};
use crate::rules::{Draft, Reporter};

const PIN: &str = "take one connection out of the pool for as long as the lock is held (`pool.acquire()` and `detach()`, or `close_on_drop()`), and lock and unlock on it; or hold the lock for a transaction with `pg_advisory_xact_lock`";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for lock in locks_on_pools(inventory) {
        report.add(on_pool(&lock));
    }
    let mut seen: BTreeSet<Location> = BTreeSet::new();
    for left in &inventory.left_sessions {
        if seen.insert(left.taken_at) && !resets_sessions(inventory) {
            report.add(given_back(left));
        }
    }
}

fn on_pool(lock: &PooledLock<'_>) -> Draft {
    let (label, message) = if lock.lock.for_transaction {
        (
            "its transaction ends with the statement",
            "this lock is freed before the call returns: outside a transaction, each statement on a pool is one of its own",
        )
    } else if lock.lock.act == SessionAct::Release {
        (
            "runs on any session of the pool",
            "the session that unlocks need not be the one that holds the lock: then nothing is freed, and the lock stays until its connection is closed",
        )
    } else {
        (
            "runs on any session of the pool",
            "the lock belongs to the session that the pool happened to give, which goes back to the pool at once: the unlock may meet another session, and another caller may get this one with the lock on it",
        )
    };
    let mut draft = Draft::new(lock.site.location(), label, message, PIN);
    if let Some(call) = lock.site.call {
        draft = draft.related(call, "on a pool");
    }
    for other in &lock.others {
        draft = draft.related(*other, "and unlocks on a pool");
    }
    draft
}

fn given_back(left: &LeftSession) -> Draft {
    let help = "unlock on every way out: run the work in an inner `async` block, unlock, and only then look at its result; or call `close_on_drop()` or `detach()` on the connection";
    let message = "the connection goes back to its pool with the lock on it, and keeps it until the pool closes the connection";
    let draft = Draft::new(left.taken_at, "takes the session's lock", message, help)
        .related(left.connection, "the connection is a pool's");
    match left.exit {
        Some(exit) => draft.related(exit, "left here without an unlock"),
        None => draft,
    }
}
