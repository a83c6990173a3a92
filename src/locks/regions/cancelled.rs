//! Transactions inside a held region that end by being dropped: with the future of a `select!` that another
//! arm has ended, with one whose time is over, with an aborted task. Drivers start the rollback then and wait
//! for nothing, so that the lock may be free before the database has undone the work.

use super::{Role, Rows, role};
use crate::facts::Location;
use crate::facts::sql::StatementKind;
use crate::locks::Inventory;
use crate::locks::timeline::{Step, StepKind, Timeline};

/// A transaction whose rollback nobody waits for before the release.
#[derive(Debug, Clone)]
pub struct DroppedTransaction {
    pub lock: String,
    pub begun_at: Location,
    pub released_at: Location,
    /// Its task is aborted; otherwise its future is dropped.
    pub is_aborted: bool,
    /// The store refuses each of its writes when it is stale.
    pub is_fenced: bool,
}

pub fn dropped_transactions(inventory: &Inventory) -> Vec<DroppedTransaction> {
    let rows = Rows::of(inventory);
    let mut found: Vec<DroppedTransaction> = Vec::new();
    for timeline in &inventory.timelines {
        if !timeline.steps.iter().any(|step| step.kind == StepKind::Begin) {
            continue;
        }
        let roles: Vec<Role> =
            timeline.steps.iter().map(|step| role(inventory, &rows, timeline, step)).collect();
        let begun = (0..roles.len()).filter(|at| roles[*at] == Role::Begin);
        found.extend(begun.filter_map(|at| of_begin(inventory, timeline, &roles, at)));
    }
    found.sort_by_key(|dropped| (dropped.begun_at, dropped.released_at));
    found.dedup_by_key(|dropped| dropped.begun_at);
    found
}

fn of_begin(
    inventory: &Inventory,
    timeline: &Timeline,
    roles: &[Role],
    begun: usize,
) -> Option<DroppedTransaction> {
    let steps = &timeline.steps;
    let is_aborted = steps[begun].task.is_some_and(|task| timeline.aborted_tasks.contains(&task));
    if !is_aborted && (!steps[begun].may_be_dropped || steps[begun].is_apart) {
        return None;
    }
    // Whoever takes and frees the lock outlives the transaction.
    let outlives = |step: &Step| !step.is_apart && !step.may_be_dropped;
    let lock = (0..begun).rev().find_map(|at| match &roles[at] {
        Role::Take { lock, .. } if outlives(&steps[at]) => Some(lock.clone()),
        _ => None,
    })?;
    let freed = (begun + 1..roles.len())
        .find(|at| roles[*at] == Role::Free(lock.clone()) && outlives(&steps[*at]))?;
    let is_awaited = (begun + 1..freed)
        .any(|at| steps[at].kind == StepKind::Rollback && !steps[at].is_apart && !steps[at].may_be_dropped);
    let inside = (begun + 1..freed).filter(|at| steps[*at].task == steps[begun].task);
    let writes: Vec<usize> = inside.filter(|at| is_write(inventory, &steps[*at])).collect();
    let is_fenced = writes.iter().all(|at| matches!(roles[*at], Role::Write { is_fenced: true, .. }));
    (!is_awaited && !writes.is_empty()).then(|| DroppedTransaction {
        lock: lock.shown(inventory),
        // What is aborted is the task: the call that starts it may be far away.
        begun_at: if is_aborted { steps[begun].inner } else { steps[begun].place },
        released_at: steps[freed].place,
        is_aborted,
        is_fenced,
    })
}

fn is_write(inventory: &Inventory, step: &Step) -> bool {
    let StepKind::Statement(site) = step.kind else { return false };
    let site = inventory.statements.get(site);
    site.is_some_and(|site| matches!(site.statement.kind, StatementKind::Write(_)))
}
