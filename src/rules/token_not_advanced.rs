//! A token that is compared and left as it was: the next stale holder passes the same comparison.

use crate::facts::sql::{Comparison, ExprKind, WriteVerb};
use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::locks::guard::{GuardKind, NewToken, new_token};
use crate::locks::naming::TokenTier;
use crate::locks::rows::{Protection, Purpose, RowWrite, row_writes};
use crate::locks::tables::{TokenColumn, TokenKind};
use crate::rules::edits::{FixDraft, statement};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for row in row_writes(inventory).iter().filter(|r| r.site.statement.parsed) {
        match row.purpose {
            Purpose::Protected => protected(inventory, row, report),
            Purpose::Acquire => take_over(inventory, row, report),
            _ => {}
        }
    }
}

fn protected(inventory: &Inventory, row: &RowWrite<'_>, report: &mut Reporter<'_>) {
    let Protection::Fenced { token, guard } = row.protection(inventory) else { return };
    if row.write.verb == WriteVerb::Delete || row.trigger_advances(&token.name) {
        return;
    }
    let table = &row.write.table.name;
    let column = &token.name;
    let new = match new_token(row.write, column) {
        // `SET version = $3 … WHERE version = $3`
        NewToken::Given(a) if token.kind == TokenKind::Version && is_compared(row, column, &a.value.kind) => {
            NewToken::Kept
        }
        new => new,
    };
    let ordered = matches!(guard.how, GuardKind::Less | GuardKind::LessOrEqual);
    let (message, label, help, fix) = match (token.kind, new) {
        (_, NewToken::Kept) if ordered => (
            format!(
                "`{column}` of `{table}` is compared and never set to the new token, so an older holder passes the same comparison later"
            ),
            format!("does not set `{column}`"),
            format!("set `{column}` to the token that is compared, in the same statement"),
            statement::store_compared(row, column, guard.span),
        ),
        (TokenKind::Ordered, NewToken::Raised(_)) if ordered => (
            format!(
                "`{column}` of `{table}` is raised by itself and not set to the holder's token, so a token between the two still passes"
            ),
            format!("counts `{column}` up instead of storing the token"),
            format!("set `{column}` to the token that is compared"),
            statement::store_compared(row, column, guard.span),
        ),
        (TokenKind::Version, NewToken::Kept) if guard.how == GuardKind::Equal => (
            format!(
                "`{column}` of `{table}` is compared and not raised, so two writers that read the same version both succeed"
            ),
            format!("does not raise `{column}`"),
            format!("add `{column} = {column} + 1` to SET"),
            statement::raise(row, column),
        ),
        _ => return,
    };
    let draft = Draft::new(row.site.location(), label, message, help);
    report.add(
        with_context(draft, row, token)
            .fix(fix)
            .related(row.site.at(guard.span), format!("`{column}` is compared here")),
    );
}

/// Whether the column is compared for equality with this very parameter.
fn is_compared(row: &RowWrite<'_>, column: &str, value: &ExprKind) -> bool {
    matches!(value, ExprKind::Bind(_))
        && row.compares().iter().any(|(c, o, other)| {
            *o == Comparison::Equal && c.eq_ignore_ascii_case(column) && other.kind == *value
        })
}

/// A new holder of a lease row must get a newer token than the last one.
fn take_over(inventory: &Inventory, row: &RowWrite<'_>, report: &mut Reporter<'_>) {
    let Some(token) = row.token().filter(|t| t.kind == TokenKind::Ordered && t.tier <= TokenTier::Lease)
    else {
        return;
    };
    let takes = row.write.assignments.iter().any(|a| row.profile.is_owner(&a.column));
    let by_holder = matches!(row.protection(inventory), Protection::Held { .. });
    let kept = new_token(row.write, &token.name) == NewToken::Kept;
    if !takes || by_holder || !kept || row.trigger_advances(&token.name) {
        return;
    }
    let table = &row.write.table.name;
    let column = &token.name;
    let draft = Draft::new(
        row.site.location(),
        format!("takes the lease and keeps `{column}`"),
        format!(
            "a take-over of a row of `{table}` keeps its `{column}`, so the old holder's token is as good as the new one's"
        ),
        format!("add `{column} = {column} + 1` to SET and return it to the new holder"),
    );
    // The new holder has to be told its token as well.
    let fix = statement::raise(row, column).map(FixDraft::suggested);
    report.add(with_context(draft, row, token).fix(fix));
}

fn with_context(mut draft: Draft, row: &RowWrite<'_>, token: &TokenColumn) -> Draft {
    let sure = token.known_type && row.site.complete;
    draft = draft.lock(row.write.table.name.clone()).confidence(if sure {
        Confidence::High
    } else {
        Confidence::Medium
    });
    if let Some(declared) = token.declared {
        draft = draft.related(declared, format!("`{}` is declared here", token.name));
    }
    match row.site.call {
        Some(call) => draft.related(call, "the statement is run here"),
        None => draft,
    }
}
