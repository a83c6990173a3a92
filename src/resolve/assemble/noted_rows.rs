//! What a transaction has done to rows so far: those that it has locked, and the lease or fence rows among them
//! whose holder or token it has compared. Whether that protects a write is not asked here.

use crate::facts::sql::{Comparison, Select, SourceKind, StatementKind, Write, WriteVerb};
use crate::locks::TransactionScope;
use crate::locks::naming;
use crate::locks::tables::compared_columns;

/// Adds what one statement does.
pub(super) fn note_rows(scope: &mut TransactionScope, statement: &StatementKind) {
    match statement {
        StatementKind::Select(select) => note_select(scope, select),
        StatementKind::Write(write) if scope.open && checks_lease(write) => {
            scope.checked_tables.push(write.table.name.clone());
        }
        _ => {}
    }
}

fn note_select(scope: &mut TransactionScope, select: &Select) {
    let tables = || {
        select.sources.iter().filter_map(|source| match &source.kind {
            SourceKind::Table(table) => Some(table.name.clone()),
            _ => None,
        })
    };
    if select.locks_rows {
        scope.locked_tables.extend(tables());
    }
    let keeps = select.locks_rows || select.shares_rows;
    let asks = compared_columns(select.predicate.as_ref())
        .any(|(column, comparison)| is_holder(column) && comparison == Comparison::Equal);
    if scope.open && keeps && asks {
        scope.checked_tables.extend(tables().filter(|table| holds_leases(table)));
    }
}

/// `UPDATE fences SET token = $2 WHERE name = $1 AND token < $2`, before the writes that it lets through.
fn checks_lease(write: &Write) -> bool {
    let asks = compared_columns(write.predicate.as_ref()).any(|(column, comparison)| match comparison {
        Comparison::Equal => is_holder(column),
        Comparison::Less | Comparison::LessOrEqual => naming::token_tier(column).is_some(),
        _ => false,
    });
    let keeps_row = matches!(write.verb, WriteVerb::Update | WriteVerb::Upsert);
    keeps_row && asks && holds_leases(&write.table.name)
}

fn is_holder(column: &str) -> bool {
    naming::is_owner(column) || naming::is_weak_owner(column) || naming::token_tier(column).is_some()
}

/// A table whose rows say who holds what, or how new a holder must be.
fn holds_leases(table: &str) -> bool {
    let fences = ["fence", "fences", "fencing"];
    naming::is_lock_table(table) || naming::words(table).iter().any(|word| fences.contains(&word.as_str()))
}
