//! A fencing token or version that comes from a clock or from chance.

use std::collections::BTreeSet;

use crate::facts::Location;
use crate::locks::rows::{DrawnToken, drawn_tokens};
use crate::locks::{DrawnFrom, Inventory};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    let mut seen: BTreeSet<Location> = BTreeSet::new();
    for token in drawn_tokens(inventory) {
        let place = place(&token);
        if !seen.insert(place) {
            continue;
        }
        let mut draft = Draft::new(place, label(&token), message(&token), HELP).lock(token.table);
        for (at, what) in [
            (token.drawn.location, "it is drawn here"),
            (token.compared_at, "tokens are compared for order here"),
        ] {
            if at != place {
                draft = draft.related(at, what);
            }
        }
        report.add(draft);
    }
}

const HELP: &str = "let the store count: a sequence, `token = token + 1` in the statement that takes the lease, INCR in the script of the acquire, or the revision that etcd and Consul give";

/// A clock that is read elsewhere serves others, too.
fn place(token: &DrawnToken<'_>) -> Location {
    let call = token.site.call.unwrap_or(token.site.location());
    if call.file == token.drawn.location.file { token.drawn.location } else { token.site.location() }
}

fn label(token: &DrawnToken<'_>) -> &'static str {
    match token.drawn.from {
        DrawnFrom::WallClock => "a token from the wall clock",
        DrawnFrom::Chance => "a token by chance",
    }
}

fn message(token: &DrawnToken<'_>) -> String {
    let column = format!("`{}.{}`", token.table, token.column);
    match token.drawn.from {
        DrawnFrom::WallClock => format!(
            "the token {column} is compared for order and comes from this machine's wall clock: a successor whose clock is behind is refused, and a stale holder whose clock is ahead is let in"
        ),
        DrawnFrom::Chance => format!(
            "the token {column} is compared for order and is drawn at random: half of all successors are refused, and half of all stale holders are let in"
        ),
    }
}
