//! Locks of database sessions, as steps of the model.

use super::{Found, part};
use crate::locks::{Executor, Inventory, SessionAct, SqlSite};
use crate::proof::protocol::{Answer, Asks, Command, Life, Owner, Role, Step, Store, TokenOf};

/// What held regions call such a lock.
const NAME: &str = "of the session";

pub(super) fn add(inventory: &Inventory, found: &mut Found) {
    for site in inventory.statements.iter().filter(|site| !site.is_test) {
        // One of a transaction ends with it, whatever becomes of it; what matters is whether it was taken.
        let Some(lock) = site.session_lock else { continue };
        if lock.for_transaction && !(lock.act == SessionAct::Try && site.reply_dropped) {
            continue;
        }
        let command = match lock.act {
            SessionAct::Release => Command::Free { asks: Asks::Stored, answer: Answer::Heard, is_last: true },
            SessionAct::Take | SessionAct::Try => Command::Take {
                asks: Asks::Stored,
                life: life(inventory, site),
                owner: Owner::Own,
                token: TokenOf::Take,
                answer: if site.reply_dropped && lock.act == SessionAct::Try {
                    Answer::Dropped
                } else {
                    Answer::Heard
                },
            },
        };
        let role = if lock.act == SessionAct::Release { Role::Release } else { Role::Acquire };
        let steps = vec![Step { command, place: Some(site.location()) }];
        let function = site.function.as_deref().unwrap_or_default();
        let protocol = found.of(Store::Session, NAME);
        protocol.life = Life::Session;
        protocol.evidence = vec!["the database locks it for a session".to_owned()];
        protocol.add(part(role, function, steps, site.call));
    }
}

fn life(inventory: &Inventory, site: &SqlSite) -> Life {
    let is_left = inventory.left_sessions.iter().any(|left| Some(left.taken_at) == site.call);
    if site.executor == Executor::Pool || is_left { Life::PooledSession } else { Life::Session }
}
