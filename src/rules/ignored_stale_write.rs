//! A conditional write whose outcome nobody looks at: a refused write looks like success.

use crate::facts::sql::{Comparison, Expr, WriteVerb};
use crate::finding::{Confidence, Severity};
use crate::locks::naming::TokenTier;
use crate::locks::rows::{Protection, Purpose, RowWrite, row_writes};
use crate::locks::{CountUse, Inventory};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for row in row_writes(inventory) {
        let counts = matches!(row.purpose, Purpose::Protected | Purpose::Renew) && !row.is_nested;
        // In a transaction that has checked the row, the count says nothing new.
        let known =
            !row.site.transaction.locked_tables.is_empty() || !row.site.transaction.checked_tables.is_empty();
        // Where nobody looks at the function's result at all, nobody takes a refused write for success.
        let unread = row.site.is_best_effort || only_moves_on(&row);
        if row.site.count != CountUse::Ignored || !counts || known || unread || !row.site.statement.parsed {
            continue;
        }
        match row.protection(inventory) {
            // Where the name is no token's, an older number that changes nothing may be all that is wanted.
            Protection::Fenced { token, .. }
                if token.tier != TokenTier::Usage && can_refuse(&row, &token.name) =>
            {
                report.add(draft(&row, &token.name, Severity::Error));
            }
            // Where nobody holds rows, the run or attempt that a row belongs to is a part of its key.
            Protection::Held { column, .. }
                if row.has_holders() && row.is_holder(&column) && can_refuse(&row, &column) =>
            {
                // A holder that withdraws its own row loses nothing when the row is gone already.
                let withdraws = row.write.verb == WriteVerb::Delete;
                report.add(draft(&row, &column, if withdraws { Severity::Info } else { Severity::Warning }));
            }
            _ => {}
        }
    }
}

/// A column that is compared with what the statement itself looks up picks a row; only a value that the
/// caller brings along can be stale.
fn can_refuse(row: &RowWrite<'_>, column: &str) -> bool {
    let own: Vec<&Expr> = row
        .compares()
        .into_iter()
        .filter(|(name, ..)| name.eq_ignore_ascii_case(column))
        .map(|(.., other)| other)
        .collect();
    own.is_empty() || own.iter().any(|other| !row.looks_up(other))
}

/// `SET expires_at = $1 … WHERE owner = $2 AND expires_at < $1`: no row is what is wanted where the one column that
/// it sets has been moved on already.
fn only_moves_on(row: &RowWrite<'_>) -> bool {
    let [only] = row.write.assignments.as_slice() else { return false };
    let moves = |column: &str| column.eq_ignore_ascii_case(&only.column) && !row.profile.is_token(column);
    row.compares().iter().any(|(column, operator, _)| *operator == Comparison::Less && moves(column))
}

fn draft(row: &RowWrite<'_>, column: &str, severity: Severity) -> Draft {
    let table = &row.write.table.name;
    let mut draft = Draft::new(
        row.site.location(),
        "its affected-row count is dropped",
        format!("a write to `{table}` that `{column}` refuses changes no row and looks like success"),
        "compare the affected-row count with 1 (or fetch a RETURNING row) and stop the work when it differs",
    )
    .severity(severity)
    .confidence(Confidence::High)
    .lock(table.clone());
    if let Some(token) = row.profile.tokens.iter().find(|t| t.name.eq_ignore_ascii_case(column))
        && let Some(declared) = token.declared
    {
        draft = draft.related(declared, format!("`{column}` is declared here"));
    }
    match row.site.count_dropped_by.or(row.site.call) {
        Some(call) => draft.related(call, "the count is dropped here"),
        None => draft,
    }
}
