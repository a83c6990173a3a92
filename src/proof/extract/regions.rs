//! What functions do while they hold a lock, and behind that: writes, checks in memory, exits, tokens that are
//! drawn late.

use super::{Found, part};
use crate::locks::regions::{HeldRegion, checked_writes, held_writes, late_tokens, retaken_rows};
use crate::locks::{Inventory, LateWrite};
use crate::proof::protocol::{
    Answer, Asks, Command, Guard, Life, Owner, Protocol, Role, Sets, Source, Step, Store, TokenOf,
};

pub(super) fn add(inventory: &Inventory, found: &mut Found) {
    for region in inventory.held_regions() {
        let protocol = found.named(&region.lock);
        add_exits(protocol, region);
        for write in &region.late_writes {
            add_late_write(protocol, region, write);
        }
    }
    for write in held_writes(inventory) {
        let read = write.read_at.map(|place| Step { command: Command::Read, place: Some(place) });
        let mut steps: Vec<Step> = read.into_iter().collect();
        steps.push(open_write(write.location));
        let more = write.call.into_iter().chain([write.acquired_at]);
        found.named(&write.lock).add(part(Role::Write, &write.table, steps, more));
    }
    for write in checked_writes(inventory) {
        let check = Step { command: Command::Check, place: Some(write.check.location) };
        let steps = vec![check, open_write(write.location)];
        let protocol = match &write.lock {
            Some(lock) => found.named(lock),
            None => found.of(Store::Elsewhere, &write.target),
        };
        protocol.add(part(Role::Write, &write.target, steps, write.call));
    }
    for token in late_tokens(inventory) {
        let protocol = found.named(&token.lock);
        let take =
            Step { command: plain_take(protocol.life, TokenOf::Later), place: Some(token.acquired_at) };
        let draw = Step { command: Command::Draw(Source::Counter), place: Some(token.location) };
        protocol.add(part(Role::Acquire, &token.source, vec![take, draw], []));
    }
    for row in retaken_rows(inventory) {
        let protocol = found.named(&row.lock);
        let free = Command::Free { asks: Asks::Stored, answer: Answer::Heard, is_last: false };
        let steps = vec![
            Step { command: free, place: Some(row.released_at) },
            Step { command: plain_take(protocol.life, TokenOf::Take), place: Some(row.taken_at) },
        ];
        protocol.add(part(Role::Renew, "", steps, []));
    }
}

/// A way out that leaves the lock behind, before the release.
fn add_exits(protocol: &mut Protocol, region: &HeldRegion) {
    for exit in &region.exits {
        let steps = vec![Step { command: Command::Leave, place: Some(*exit) }, free_at(protocol, region)];
        protocol.add(part(Role::Release, &region.function, steps, []));
    }
}

fn add_late_write(protocol: &mut Protocol, region: &HeldRegion, write: &LateWrite) {
    let read = Step { command: Command::Read, place: Some(write.read_at) };
    let steps = vec![read, free_at(protocol, region), open_write(write.location)];
    protocol.add(part(Role::Release, &region.function, steps, []));
}

/// The release of a region, as it is known from its operation.
fn free_at(protocol: &Protocol, region: &HeldRegion) -> Step {
    let known = protocol.releases.iter().find(|release| release.is_at(region.released_at));
    let free = known
        .and_then(|release| release.steps.iter().rfind(|step| matches!(step.command, Command::Free { .. })));
    let safe = Command::Free { asks: Asks::Stored, answer: Answer::Heard, is_last: true };
    Step { command: free.map_or(safe, |free| free.command), place: Some(region.released_at) }
}

fn open_write(place: crate::facts::Location) -> Step {
    let write = Command::Write { guard: Guard::Nothing, sets: Sets::Kept, answer: Answer::Heard };
    Step { command: write, place: Some(place) }
}

fn plain_take(life: Life, token: TokenOf) -> Command {
    Command::Take { asks: Asks::Stored, life, owner: Owner::Own, token, answer: Answer::Heard }
}
