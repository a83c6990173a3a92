//! Locks that belong to a database session, and the sessions that are lost while they hold one.

use super::statement::{Executor, SessionAct, SqlSite};
use super::{Inventory, SessionLock};
use crate::facts::Location;
use crate::facts::sql::{ExprKind, StatementKind};

/// A connection that goes back to its pool with the lock that its session took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftSession {
    /// The call that takes the lock, in the function that has the connection.
    pub taken_at: Location,
    /// Where the connection comes out of the pool.
    pub connection: Location,
    /// The way out on which nobody unlocks; `None` when nobody does at all.
    pub exit: Option<Location>,
}

/// A lock statement that runs on whichever session the pool gives.
#[derive(Debug, Clone)]
pub struct PooledLock<'a> {
    pub site: &'a SqlSite,
    pub lock: SessionLock,
    /// Other statements on the same lock that run on the pool too.
    pub others: Vec<Location>,
}

/// Lock statements on a pool. Of those in one file the ones that take speak for the ones that free.
pub fn locks_on_pools(inventory: &Inventory) -> Vec<PooledLock<'_>> {
    let on_pool: Vec<(&SqlSite, SessionLock)> = inventory
        .statements
        .iter()
        .filter(|site| site.executor == Executor::Pool && !site.is_test && !site.transaction.open)
        .filter_map(|site| Some((site, site.session_lock?)))
        .filter(|(site, lock)| !lock.for_transaction || does_nothing_else(site))
        .collect();
    let file = |site: &SqlSite| site.call.map(|call| call.file);
    let frees = |lock: SessionLock| lock.act == SessionAct::Release;
    let mut found = Vec::new();
    for (site, lock) in &on_pool {
        let beside = on_pool.iter().filter(|(other, _)| file(other) == file(site));
        if frees(*lock) && beside.clone().any(|(_, other)| !frees(*other) && !other.for_transaction) {
            continue;
        }
        let others = beside.filter(|(_, other)| frees(*other) && !frees(*lock) && !lock.for_transaction);
        let others = others.map(|(other, _)| other.location()).collect();
        found.push(PooledLock { site, lock: *lock, others });
    }
    found
}

/// `SELECT pg_advisory_xact_lock(…)` alone: with anything else in the statement, the lock guards that.
fn does_nothing_else(site: &SqlSite) -> bool {
    let StatementKind::Select(select) = &site.statement.kind else { return false };
    let [only] = select.projection.as_slice() else { return false };
    select.sources.is_empty()
        && select.ctes.is_empty()
        && select.predicate.is_none()
        && matches!(&only.kind, ExprKind::Call { name, .. } if name.contains("advisory"))
}

/// Whether pools clear each session before they give it out again, by a hook on its return.
pub fn resets_sessions(inventory: &Inventory) -> bool {
    let frees_all = |e: &crate::facts::sql::Expr| matches!(&e.kind, ExprKind::Call { name, .. } if name == "pg_advisory_unlock_all" || name == "release_all_locks");
    inventory.statements.iter().filter(|site| !site.is_test).any(|site| match &site.statement.kind {
        StatementKind::Select(select) => select.projection.iter().any(frees_all),
        StatementKind::Other { verb } => verb == "DISCARD ALL",
        _ => false,
    })
}
