//! A predicate that names the token, and that a stale token still passes.

use crate::facts::Span;
use crate::facts::sql::{Expr, ExprKind, Write, WriteVerb};
use crate::finding::{Confidence, Severity};
use crate::locks::Inventory;
use crate::locks::guard::{GuardKind, LooseReason};
use crate::locks::rows::{Protection, Purpose, RowWrite, row_writes};
use crate::locks::tables::TokenKind;
use crate::rules::edits::{FixDraft, statement};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for row in
        row_writes(inventory).iter().filter(|r| r.purpose == Purpose::Protected && r.site.statement.parsed)
    {
        match row.protection(inventory) {
            Protection::Loose { column, looseness } if row.token().is_some() || row.finishes_claim() => {
                report.add(loose(row, &column, looseness.reason, looseness.span));
            }
            Protection::Fenced { token, guard }
                if guard.how == GuardKind::LessOrEqual
                    && token.kind == TokenKind::Ordered
                    && row.write.verb != WriteVerb::Delete =>
            {
                report.add(equal_passes(row, &token.name, guard.span));
            }
            _ => {}
        }
    }
}

fn loose(row: &RowWrite<'_>, column: &str, reason: LooseReason, span: Span) -> Draft {
    let (what, label) = explain(reason, column);
    let message = format!("a stale holder still writes to `{}`: {what}", row.write.table.name);
    let severity = match reason {
        LooseReason::UnlockedOther => Severity::Info,
        LooseReason::Unlocked => Severity::Warning,
        _ => Severity::Error,
    };
    let fix = match (reason, row.token().map(|token| token.kind)) {
        (LooseReason::NotEqual | LooseReason::WrongWay, Some(TokenKind::Ordered)) => {
            statement::compare_older(row, column, span)
        }
        (LooseReason::NotEqual | LooseReason::WrongWay, Some(TokenKind::Version)) => {
            statement::compare_equal(row, column, span)
        }
        _ => None,
    };
    draft(row, column, message, label, span).severity(severity).confidence(confidence(row)).fix(fix)
}

fn confidence(row: &RowWrite<'_>) -> Confidence {
    match row.token() {
        Some(token) if token.known_type && row.site.complete => Confidence::High,
        _ => Confidence::Medium,
    }
}

fn equal_passes(row: &RowWrite<'_>, column: &str, span: Span) -> Draft {
    let relative = row.write.assignments.iter().any(|a| changes_itself(&a.value, &a.column));
    let table = &row.write.table.name;
    let (message, severity) = if relative {
        let message = format!(
            "a repeated write with the same token passes `<=` on `{column}`, so its change to `{table}` is applied twice"
        );
        (message, Severity::Warning)
    } else {
        let message = format!("`<=` on `{column}` lets the same token write to `{table}` again");
        (message, Severity::Info)
    };
    // An absolute value that is written twice does no harm, and may be meant.
    let fix = statement::compare_older(row, column, span);
    let fix = if relative { fix } else { fix.map(FixDraft::suggested) };
    draft(row, column, message, "equal tokens pass", span)
        .severity(severity)
        .confidence(confidence(row))
        .fix(fix)
}

/// `balance = balance + $1`
fn changes_itself(value: &Expr, column: &str) -> bool {
    match &value.kind {
        ExprKind::Arithmetic { left, right, .. } => [left, right].iter().any(|e| names(e, column)),
        ExprKind::Case { branches, otherwise, .. } => branches
            .iter()
            .map(|(_, result)| result)
            .chain(otherwise.as_deref())
            .any(|e| changes_itself(e, column)),
        ExprKind::Call { name, args } if name == "if" => {
            args.iter().skip(1).any(|e| changes_itself(e, column))
        }
        _ => false,
    }
}

fn names(e: &Expr, column: &str) -> bool {
    matches!(&e.kind, ExprKind::Column { name, .. } if name.eq_ignore_ascii_case(column))
        || e.kind.parts().into_iter().any(|p| names(p, column))
}

fn explain(reason: LooseReason, column: &str) -> (String, &'static str) {
    match reason {
        LooseReason::NotEqual => (
            format!("`{column}` only has to differ, and an older token differs too"),
            "an older token differs too",
        ),
        LooseReason::WrongWay => (
            format!(
                "`{column}` is compared the wrong way round, so that the newest holder is refused and older ones pass"
            ),
            "refuses the newest token",
        ),
        LooseReason::Itself => (
            format!("`{column}` is compared with the row itself and with no token of the holder"),
            "always true",
        ),
        LooseReason::Constant => (
            format!("`{column}` is compared with a constant and with no token of the holder"),
            "compares with a constant",
        ),
        LooseReason::OrAround => (
            format!("the OR beside the comparison of `{column}` lets it in"),
            "another branch lets stale writers in",
        ),
        LooseReason::OtherTable => {
            (format!("the `{column}` that is compared belongs to another table"), "belongs to a joined table")
        }
        LooseReason::Uncorrelated => (
            format!("the comparison of `{column}` may hold for any row, not for the one written"),
            "may hold for any row",
        ),
        LooseReason::Unlocked => (
            format!("`{column}` is compared in a reading that does not lock the row"),
            "the row can change after this reading",
        ),
        LooseReason::UnlockedOther => (
            format!("`{column}` is not compared, and the row that is checked instead is not locked"),
            "the checked row can change meanwhile",
        ),
        LooseReason::ConflictTarget => (
            format!("`{column}` stands in the conflict target, which chooses an index and guards nothing"),
            "chooses an index",
        ),
        LooseReason::MergeOn => (
            format!("`{column}` is compared in ON, so that a stale row counts as not matched"),
            "decides between update and insert",
        ),
        LooseReason::SetOnly => (
            format!("`{column}` itself only ever grows, but the other columns are overwritten"),
            "guards the token and nothing else",
        ),
        LooseReason::SomeAssignments => (
            format!("this assignment does not compare `{column}` as the others do"),
            "assigned without comparison",
        ),
        LooseReason::SetBeforeCompared => (
            format!(
                "MySQL assigns from left to right, so `{column}` is already the new one when it is compared"
            ),
            "set before it is compared",
        ),
    }
}

fn draft(row: &RowWrite<'_>, column: &str, message: String, label: &str, span: Span) -> Draft {
    let help = help(row.write, column, row.profile.is_owner(column));
    let mut draft = Draft::new(row.site.location(), label, message, help).lock(row.write.table.name.clone());
    if span.end > span.start {
        draft = draft.related(row.site.at(span), label);
    }
    if let Some(declared) = row.token().and_then(|t| t.declared) {
        draft = draft.related(declared, format!("`{column}` is declared here"));
    }
    match row.site.call {
        Some(call) => draft.related(call, "the statement is run here"),
        None => draft,
    }
}

fn help(write: &Write, column: &str, is_owner: bool) -> String {
    match write.verb {
        _ if is_owner => format!("compare `{column} = $n` without an alternative"),
        WriteVerb::Upsert => {
            format!("add `WHERE {}.{column} < EXCLUDED.{column}` after DO UPDATE SET", write.table.name)
        }
        WriteVerb::DuplicateKeyUpdate => {
            format!("compare `{column} < VALUES({column})` in every assignment and set `{column}` last")
        }
        WriteVerb::Merge => {
            format!("move the comparison to `WHEN MATCHED AND target.{column} < source.{column}`")
        }
        _ => format!("let `{column} < $token`, on the row that is written, hold for every write"),
    }
}
