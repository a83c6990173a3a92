//! A fencing token that is drawn in a step of its own, behind the acquire.

use crate::locks::Inventory;
use crate::locks::regions::{TokenSource, late_tokens};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for token in late_tokens(inventory) {
        let help = match token.drawn_by {
            TokenSource::Counter => {
                "take the lock and raise its counter in one script: `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end`"
            }
            TokenSource::Statement => {
                "draw the token in the step that takes the lock: a lease row whose acquire sets `token = token + 1` and returns it, or the revision that etcd and Consul give"
            }
        };
        report.add(
            Draft::new(
                token.location,
                "the token is drawn here, in a step of its own",
                format!(
                    "the token from `{}` is drawn after the lock `{}` was taken: a holder that is paused between the two draws a newer token than its successor, and the store lets its stale writes in",
                    token.source, token.lock
                ),
                help,
            )
            .lock(&token.lock)
            .related(token.acquired_at, "the lock is taken here"),
        );
    }
}
