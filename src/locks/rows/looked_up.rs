//! Rows of work that one statement finds waiting and another gives to a worker, by what the first has found and
//! without asking again: two workers find the same row, and both take it.

use super::claims::{asks_nothing, has_locked};
use super::{RowClaim, RowWrite, row_writes};
use crate::facts::sql::{Comparison, Expr, ExprKind, Select, StatementKind, WriteVerb};
use crate::locks::Inventory;
use crate::locks::naming::{self, queue};
use crate::locks::statement::SqlSite;
use crate::locks::tables::{is_null, literal, own_compares, reads, selects};
use crate::locks::timeline::{StepKind, Timeline};

/// One for each such statement.
pub(super) fn looked_up_claims(inventory: &Inventory) -> Vec<RowClaim<'_>> {
    let rows = row_writes(inventory);
    let takes: Vec<&RowWrite<'_>> =
        rows.iter().filter(|row| gives_out(row) && asks_nothing(row) && !has_locked(row)).collect();
    let mut found: Vec<RowClaim<'_>> = Vec::new();
    for timeline in inventory.timelines.iter().filter(|_| !takes.is_empty()) {
        for (at, step) in timeline.steps.iter().enumerate() {
            let Some(site) = statement(inventory, step.kind) else { continue };
            let is_here = |row: &&&RowWrite<'_>| std::ptr::eq(row.site, site);
            let Some(row) = takes.iter().find(is_here) else { continue };
            let known = found.iter().any(|claim| std::ptr::eq(claim.site, site));
            if let Some(look) = look(inventory, timeline, at, row).filter(|_| !known) {
                let table = row.write.table.name.as_str();
                found.push(RowClaim { site: row.site, table, read: Some(look.location()) });
            }
        }
    }
    found
}

/// It puts rows into a state that a worker has them in.
fn gives_out(row: &RowWrite<'_>) -> bool {
    row.write.verb == WriteVerb::Update
        && row.write.assignments.iter().any(|a| {
            let state = || literal(row.site, &a.value).is_some_and(|state| is_under_way(&state));
            let time = || naming::is_claim_time(&a.column) && !is_null(&a.value);
            (naming::is_state(&a.column) && state()) || time()
        })
}

/// `running`, `printing`.
fn is_under_way(state: &str) -> bool {
    let other =
        queue::is_waiting_state(state) || naming::is_terminal_state(state) || naming::is_user_state(state);
    queue::is_running_state(state) || (state.ends_with("ing") && !other)
}

/// The query whose rows the statement goes by.
fn look<'i>(
    inventory: &'i Inventory,
    timeline: &Timeline,
    at: usize,
    row: &RowWrite<'_>,
) -> Option<&'i SqlSite> {
    let made_of = timeline.steps[at].made_of.iter().filter(|step| **step < at);
    let sites = made_of.filter_map(|step| statement(inventory, timeline.steps.get(*step)?.kind));
    sites.into_iter().find(|site| {
        matches!(site.statement.kind, StatementKind::Select(_))
            && !site.transaction.advisory_lock
            && selects(&site.statement.kind).iter().any(|select| {
                reads(select, &row.write.table) && !select.locks_rows && finds_waiting(site, select)
            })
    })
}

/// It asks for rows that wait, whichever they are.
fn finds_waiting(site: &SqlSite, select: &Select) -> bool {
    own_compares(select.predicate.as_ref()).iter().any(|(column, operator, other)| {
        *operator == Comparison::Equal
            && naming::is_state(column)
            && literal(site, other).is_some_and(|state| queue::is_waiting_state(&state))
    }) || select.predicate.as_ref().is_some_and(asks_unheld)
}

/// `locked_at IS NULL`.
fn asks_unheld(e: &Expr) -> bool {
    let of_lease =
        |name: &str| naming::is_owner(name) || naming::is_claim_time(name) || naming::is_deadline(name);
    match &e.kind {
        ExprKind::NullTest { operand, negated: false } => {
            matches!(&operand.kind, ExprKind::Column { name, .. } if of_lease(name))
        }
        _ => e.kind.parts().into_iter().any(asks_unheld),
    }
}

fn statement(inventory: &Inventory, kind: StepKind) -> Option<&SqlSite> {
    match kind {
        StepKind::Statement(site) => inventory.statements.get(site),
        _ => None,
    }
}
