//! Ends of the process inside a held region: `process::exit` and its like run no destructor and wait for no
//! task, so that nothing frees the lock.
//!
//! In one flow, steps say whether the lock is held where the process ends. Beside it, in another task or in a
//! signal handler, it may be held at any moment.

use std::collections::BTreeMap;

use super::{LockName, Role, Rows, freed_by_drop, role};
use crate::facts::Location;
use crate::locks::tables::writes;
use crate::locks::timeline::{Ending, StepKind, Timeline};
use crate::locks::{Inventory, SqlSite};

/// A call that ends the process while a lock is, or may be, held.
#[derive(Debug, Clone)]
pub struct AbruptEnd {
    pub lock: String,
    /// The call, or that of the helper which makes it.
    pub location: Location,
    /// Where the function that holds the lock leads there.
    pub called_at: Location,
    /// The call itself.
    pub inner: Location,
    pub acquired_at: Location,
    /// Work in another task holds the lock; this one ends the process whatever that does.
    pub is_beside: bool,
}

/// Every such call, where the function that holds the lock makes it.
pub fn abrupt_ends(inventory: &Inventory) -> Vec<AbruptEnd> {
    let rows = Rows::of(inventory);
    let mut nearest: BTreeMap<Location, (usize, AbruptEnd)> = BTreeMap::new();
    for timeline in inventory.timelines.iter().filter(|timeline| !timeline.endings.is_empty()) {
        let roles: Vec<Role> =
            timeline.steps.iter().map(|step| role(inventory, &rows, timeline, step)).collect();
        let flow = Flow { inventory, timeline, roles: &roles };
        for ending in &timeline.endings {
            let Some((taken, lock)) = flow.held_at(ending) else { continue };
            // Callers of that function see the same end further away.
            if nearest.get(&ending.inner).is_some_and(|(depth, _)| *depth <= ending.depth) {
                continue;
            }
            let found = AbruptEnd {
                lock: lock.shown(inventory),
                location: ending.helper.unwrap_or(ending.inner),
                called_at: ending.place,
                inner: ending.inner,
                acquired_at: timeline.steps[taken].place,
                is_beside: timeline.steps[taken].task != ending.task,
            };
            nearest.insert(ending.inner, (ending.depth, found));
        }
    }
    nearest.into_values().map(|(_, found)| found).collect()
}

struct Flow<'t> {
    inventory: &'t Inventory,
    timeline: &'t Timeline,
    roles: &'t [Role],
}

impl<'t> Flow<'t> {
    /// The step that takes a lock which is held, or may be, where the process ends.
    fn held_at(&self, ending: &Ending) -> Option<(usize, &'t LockName)> {
        let taken = self.roles.iter().enumerate().filter_map(|(at, role)| match role {
            // The store ends the session with its connection.
            Role::Take { lock: LockName::Session, .. } => None,
            Role::Take { lock, .. } => Some((at, lock)),
            _ => None,
        });
        let mut taken = taken.filter(|(_, lock)| !self.is_decided_by(ending, lock));
        taken.find(|(at, lock)| {
            if self.timeline.steps[*at].task == ending.task {
                self.is_held_in_flow(*at, lock, ending)
            } else {
                self.is_held_beside(*at, lock, ending)
            }
        })
    }

    /// Whoever ends the process because the lock was refused or lost, or could not be freed, does not hold it.
    fn is_decided_by(&self, ending: &Ending, lock: &LockName) -> bool {
        let steps = ending.decided_by.iter().filter_map(|&step| self.timeline.steps.get(step));
        steps.into_iter().any(|step| match (step.kind, lock) {
            (StepKind::Key(at), LockName::Key(key)) => self.key_of(at) == Some(*key),
            (StepKind::Statement(site), LockName::Table(table)) => {
                self.inventory.statements.get(site).is_some_and(|site| writes_to(site, table))
            }
            _ => false,
        })
    }

    fn key_of(&self, at: usize) -> Option<usize> {
        let sequence = self.inventory.sequences.get(self.timeline.sequence?)?;
        Some(sequence.operations.get(at)?.key)
    }

    fn is_held_in_flow(&self, taken: usize, lock: &LockName, ending: &Ending) -> bool {
        let steps = &self.timeline.steps;
        if taken >= ending.position || !steps[taken].path.leads_to(&ending.path) {
            return false;
        }
        let frees = |at: usize| self.roles[at] == Role::Free(lock.clone());
        let is_freed = (taken + 1..ending.position.min(steps.len()))
            .filter(|at| frees(*at))
            .any(|at| steps[at].path.leads_to(&ending.path) || ending.path.leads_to(&steps[at].path));
        // Without a release of its own the flow holds it as long as its guard lives.
        let is_freed_later = (ending.position..steps.len()).any(frees);
        !is_freed && (is_freed_later || ending.kept.contains(&taken))
    }

    /// Whether another flow frees the lock, and nobody waits for it or tells it to stop.
    fn is_held_beside(&self, taken: usize, lock: &LockName, ending: &Ending) -> bool {
        if !ending.after_signal || ending.is_last_resort {
            return false;
        }
        let steps = &self.timeline.steps;
        let task = steps[taken].task;
        let is_awaited = task.is_some_and(|task| self.timeline.awaited_tasks.contains(&task));
        let is_freed = (taken + 1..steps.len())
            .any(|at| self.roles[at] == Role::Free(lock.clone()) && steps[at].task == task);
        !is_awaited && (is_freed || freed_by_drop(self.inventory, lock))
    }
}

fn writes_to(site: &SqlSite, table: &str) -> bool {
    writes(&site.statement.kind).iter().any(|nested| nested.write.table.name == table)
}
