//! Writes that a look in memory at a lease stands before, and nothing else: the holder may be paused between the
//! look and the write for longer than the lease lasts.

use std::collections::BTreeMap;

use super::{LockName, Role, Rows, role};
use crate::facts::Location;
use crate::locks::Inventory;
use crate::locks::operation::{Action, Ttl};
use crate::locks::rows::{Overwrite, Protection, Purpose, RowWrite};
use crate::locks::timeline::{HeldCheck, Step, StepKind, Timeline};

#[derive(Debug, Clone)]
pub struct CheckedWrite {
    /// The statement, or the command that writes.
    pub location: Location,
    /// Where a statement is run.
    pub call: Option<Location>,
    /// The table or key.
    pub target: String,
    /// The token that the table has, which the statement could compare.
    pub token: Option<String>,
    pub check: HeldCheck,
    /// Where the lock is taken, when the same function shows it.
    pub acquired_at: Option<Location>,
    pub lock: Option<String>,
    /// How many calls lie between the function that asks and the write.
    pub depth: usize,
}

/// Each such write once, from the function nearest to it.
pub fn checked_writes(inventory: &Inventory) -> Vec<CheckedWrite> {
    let rows = Rows::of(inventory);
    let mut nearest: BTreeMap<Location, CheckedWrite> = BTreeMap::new();
    for timeline in &inventory.timelines {
        for (at, step) in timeline.steps.iter().enumerate() {
            let Some(found) = of_step(inventory, &rows, timeline, at, step) else { continue };
            match nearest.get(&found.location) {
                Some(known) if known.depth <= found.depth => {}
                _ => drop(nearest.insert(found.location, found)),
            }
        }
    }
    let mut found: Vec<CheckedWrite> = nearest.into_values().collect();
    // What one look lets through to one place is one defect.
    let mut seen: Vec<(Location, String)> = Vec::new();
    found.retain(|write| {
        let key = (write.check.location, write.target.clone());
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    found
}

fn of_step(
    inventory: &Inventory,
    rows: &Rows<'_>,
    timeline: &Timeline,
    at: usize,
    step: &Step,
) -> Option<CheckedWrite> {
    let check = step.check.clone()?;
    let (location, call, target, token) = match step.kind {
        StepKind::Statement(site) => {
            let site = inventory.statements.get(site)?;
            let row =
                rows.by_site.get(&std::ptr::from_ref(site))?.iter().find(|row| is_open(inventory, row))?;
            let token = row.token().map(|token| token.name.clone());
            (site.location(), site.call, row.write.table.name.clone(), token)
        }
        StepKind::Key(operation) => {
            let (location, key) = plain_write(inventory, timeline, operation)?;
            (location, None, key, None)
        }
        _ => return None,
    };
    let taken = timeline.steps[..at].iter().enumerate().rev().find_map(|(taken, earlier)| {
        match role(inventory, rows, timeline, earlier) {
            Role::Take { lock, .. } if lock != LockName::Session => Some((taken, lock.shown(inventory))),
            _ => None,
        }
    });
    let acquired_at = taken.as_ref().map(|(taken, _)| timeline.steps[*taken].place);
    let lock = taken.map(|(_, lock)| lock);
    Some(CheckedWrite { location, call, target, token, check, acquired_at, lock, depth: step.depth })
}

/// Whether a stale holder could do harm by this write, and nothing in the store refuses it.
fn is_open(inventory: &Inventory, row: &RowWrite<'_>) -> bool {
    row.purpose == Purpose::Protected
        && row.site.complete
        && row.site.statement.parsed
        && (row.token().is_some() || row.overwrite() != Overwrite::Nothing)
        && !row.keeps_a_sum()
        && row.protection(inventory) == Protection::Open
}

/// A SET of what is neither a lock nor a cached copy that ends by itself.
fn plain_write(inventory: &Inventory, timeline: &Timeline, at: usize) -> Option<(Location, String)> {
    let operation = inventory.sequences.get(timeline.sequence?)?.operations.get(at)?;
    let key = inventory.keys.get(operation.key)?;
    let lasts = matches!(&operation.action, Action::Overwrite { ttl: Ttl::None, only_if_present: false, .. });
    let is_plain = lasts && !key.is_lock() && key.is_written && !operation.context.in_script;
    (is_plain && !operation.watched).then(|| (operation.location, key.name.clone()))
}
