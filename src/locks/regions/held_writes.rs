//! Writes to tables without a token, made while a lease is held that ends by itself: nothing can refuse them when
//! it has ended. What a table with a token or with rows that are handed out needs is judged row by row in
//! [`crate::locks::rows`].

use std::collections::BTreeMap;

use super::{LockName, Role, Rows, role};
use crate::facts::Location;
use crate::facts::sql::Dialect;
use crate::locks::rows::{Overwrite, Protection, Purpose, RowWrite};
use crate::locks::timeline::{StepKind, Timeline};
use crate::locks::{Inventory, SqlSite};

#[derive(Debug, Clone)]
pub struct HeldWrite {
    pub location: Location,
    /// Where the statement is run.
    pub call: Option<Location>,
    pub table: String,
    pub lock: String,
    pub acquired_at: Location,
    /// Where what it writes was read, under the lock.
    pub read_at: Option<Location>,
    /// The lock is that of the very row: its key is made of a value that the statement binds.
    pub is_of_row: bool,
    /// One transaction reads and writes; what that refuses depends on its isolation.
    pub in_one_transaction: bool,
    depth: usize,
}

/// Each such write once, from the function nearest to it.
pub fn held_writes(inventory: &Inventory) -> Vec<HeldWrite> {
    let rows = Rows::of(inventory);
    let mut nearest: BTreeMap<Location, HeldWrite> = BTreeMap::new();
    for timeline in &inventory.timelines {
        let roles: Vec<Role> =
            timeline.steps.iter().map(|step| role(inventory, &rows, timeline, step)).collect();
        let flow = Flow { inventory, timeline, roles: &roles };
        for (at, step) in timeline.steps.iter().enumerate() {
            let StepKind::Statement(site) = step.kind else { continue };
            let Some(site) = inventory.statements.get(site) else { continue };
            let open = rows.by_site.get(&std::ptr::from_ref(site)).into_iter().flatten();
            let Some(row) = open.into_iter().find(|row| is_open(inventory, row)) else { continue };
            let Some(found) = flow.held_write(at, site, row) else { continue };
            match nearest.get(&found.location) {
                Some(known) if known.depth <= found.depth => {}
                _ => drop(nearest.insert(found.location, found)),
            }
        }
    }
    nearest.into_values().collect()
}

/// A value of the writer's that nothing refuses, in a table without a token of its own.
fn is_open(inventory: &Inventory, row: &RowWrite<'_>) -> bool {
    row.purpose == Purpose::Protected
        && row.site.complete
        && row.site.statement.parsed
        && row.token().is_none()
        && !row.has_holders()
        && row.overwrite() == Overwrite::Value
        && !row.keeps_a_sum()
        && row.protection(inventory) == Protection::Open
}

struct Flow<'t> {
    inventory: &'t Inventory,
    timeline: &'t Timeline,
    roles: &'t [Role],
}

impl Flow<'_> {
    fn held_write(&self, at: usize, site: &SqlSite, row: &RowWrite<'_>) -> Option<HeldWrite> {
        let (taken, lock) = self.held_at(at)?;
        let steps = &self.timeline.steps;
        let read = (taken + 1..at)
            .rev()
            .find(|read| steps[at].made_of.contains(read) && matches!(self.roles[*read], Role::Read(_)));
        let in_one_transaction = read.is_some_and(|read| site.transaction.open && !self.is_ended(read, at));
        // SQLite refuses a transaction that writes what it has read and others have changed.
        if in_one_transaction && site.dialect == Dialect::Sqlite {
            return None;
        }
        Some(HeldWrite {
            location: site.location(),
            call: site.call,
            table: row.write.table.name.clone(),
            lock: lock.shown(self.inventory),
            acquired_at: steps[taken].place,
            read_at: read.map(|read| steps[read].place),
            is_of_row: steps[at].binds_key_of.contains(&taken),
            in_one_transaction,
            depth: steps[at].depth,
        })
    }

    /// The step that takes a lease which is held where another step runs.
    fn held_at(&self, at: usize) -> Option<(usize, &LockName)> {
        (0..at).rev().find_map(|taken| match &self.roles[taken] {
            Role::Take { lock, ends_by_itself: true } if self.is_held(taken, lock, at) => Some((taken, lock)),
            _ => None,
        })
    }

    fn is_held(&self, taken: usize, lock: &LockName, at: usize) -> bool {
        let steps = &self.timeline.steps;
        let (take, here) = (&steps[taken], &steps[at]);
        // The commands of one script, and of one helper that takes the lock, are one acquire.
        let is_of_acquire = |step: &usize| steps.get(*step).is_some_and(|step| step.place == take.place);
        if take.task != here.task
            || take.place == here.place
            || !take.path.leads_to(&here.path)
            || here.decided_by.iter().any(is_of_acquire)
        {
            return false;
        }
        let frees = |step: usize| self.roles[step] == Role::Free(lock.clone());
        let is_freed = (taken + 1..at)
            .filter(|step| frees(*step))
            .any(|step| steps[step].path.leads_to(&here.path) || here.path.leads_to(&steps[step].path));
        let is_freed_later = (at + 1..steps.len()).any(|step| frees(step) && steps[step].task == take.task);
        !is_freed && (is_freed_later || here.kept.iter().any(is_of_acquire))
    }

    /// Whether a transaction begins or ends between two steps.
    fn is_ended(&self, from: usize, to: usize) -> bool {
        self.roles[from..to].iter().any(|role| matches!(role, Role::Begin | Role::Commit))
    }
}
