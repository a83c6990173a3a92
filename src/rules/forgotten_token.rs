//! The highest token that a row has seen is lost, and stale tokens count as new again.

use crate::facts::Location;
use crate::facts::sql::{Expr, ExprKind, WriteVerb};
use crate::finding::{Confidence, Severity};
use crate::locks::Inventory;
use crate::locks::guard::{NewToken, new_token};
use crate::locks::rows::{RowWrite, row_writes};
use crate::locks::tables::{TokenColumn, TokenKind};
use crate::rules::{Draft, Reporter};

const HELP: &str = "keep the highest token for as long as anybody can still write: mark the row as deleted instead of deleting it, or keep the tokens in a table of fences whose rows are never deleted";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    let rows = row_writes(inventory);
    for row in &rows {
        let Some(token) = ordered_token(row) else { continue };
        let draft = match row.write.verb {
            WriteVerb::Replace => replaced(row, token),
            WriteVerb::Delete => deleted(row, token, &rows),
            WriteVerb::Update => reset(row, token),
            _ => None,
        };
        if let Some(draft) = draft {
            report.add(draft);
        }
    }
}

/// A version only tells two readers apart; a fencing token is compared for order.
fn ordered_token<'a>(row: &RowWrite<'a>) -> Option<&'a TokenColumn> {
    row.profile.tokens.iter().find(|token| token.kind == TokenKind::Ordered)
}

/// `REPLACE INTO … (id, balance)`: the old row is deleted and the new one has the column's default.
fn replaced(row: &RowWrite<'_>, token: &TokenColumn) -> Option<Draft> {
    let columns = &row.write.insert_columns;
    let given = columns.iter().zip(&row.write.insert_values);
    let mut of_token = given.filter(|(column, _)| column.eq_ignore_ascii_case(&token.name));
    let forgets = match of_token.next() {
        Some((_, value)) => is_constant(value),
        None => !columns.is_empty() && !columns.iter().any(|column| column.eq_ignore_ascii_case(&token.name)),
    };
    forgets.then(|| {
        draft(
            row,
            token,
            row.site.location(),
            "replaces the row and forgets its token",
            format!(
                "the row of `{}` is replaced by one whose `{}` starts afresh: every stale token is newer than that",
                row.write.table.name, token.name
            ),
        )
        // It overwrites newer data besides.
        .severity(Severity::Error)
    })
}

fn reset(row: &RowWrite<'_>, token: &TokenColumn) -> Option<Draft> {
    let NewToken::Given(assignment) = new_token(row.write, &token.name) else { return None };
    is_constant(&assignment.value).then(|| {
        draft(
            row,
            token,
            row.site.location(),
            "sets the token back",
            format!(
                "`{}.{}` is set to a constant: tokens that were refused before are newer than that and pass",
                row.write.table.name, token.name
            ),
        )
        .related(row.site.at(assignment.span), "starts afresh")
    })
}

/// A row that an upsert makes again has forgotten what it refused.
fn deleted(row: &RowWrite<'_>, token: &TokenColumn, rows: &[RowWrite<'_>]) -> Option<Draft> {
    let same_table = |other: &&RowWrite<'_>| row.shares_table(other);
    let upserts =
        |other: &&RowWrite<'_>| matches!(other.write.verb, WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate);
    let maker = rows.iter().filter(same_table).filter(upserts).find(|other| starts_low(other, token))?;
    let mut draft = draft(
        row,
        token,
        row.site.location(),
        "deletes the row with its token",
        format!(
            "the highest `{}` goes with the row of `{}`, and an upsert makes the row again: a stale writer that comes after the delete is not refused",
            token.name, row.write.table.name
        ),
    )
    .confidence(Confidence::Medium);
    draft = draft.related(maker.site.location(), "the row is made again here");
    Some(draft)
}

/// Whether the row that the upsert makes has a token that is not above all earlier ones: the first of a
/// counter in the row itself, or whatever the writer brings.
fn starts_low(row: &RowWrite<'_>, token: &TokenColumn) -> bool {
    let given = row.write.insert_columns.iter().zip(&row.write.insert_values);
    let mut of_token = given.filter(|(column, _)| column.eq_ignore_ascii_case(&token.name));
    match of_token.next() {
        Some((_, value)) => is_constant(value) || matches!(value.kind, ExprKind::Bind(_) | ExprKind::Hole),
        None => matches!(new_token(row.write, &token.name), NewToken::Raised(_)),
    }
}

fn is_constant(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Number(_) => true,
        ExprKind::Cast { operand, .. } => is_constant(operand),
        ExprKind::Column { qualifier: None, name } => name.eq_ignore_ascii_case("default"),
        _ => false,
    }
}

fn draft(row: &RowWrite<'_>, token: &TokenColumn, at: Location, label: &str, message: String) -> Draft {
    let mut draft = Draft::new(at, label, message, HELP).lock(row.write.table.name.clone());
    if let Some(declared) = token.declared {
        draft = draft.related(declared, format!("`{}` is declared here", token.name));
    }
    if !row.site.complete || !row.site.statement.parsed || !token.known_type {
        draft = draft.confidence(Confidence::Low);
    }
    draft
}
