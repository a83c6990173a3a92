//! Edits of SQL that is written as text: a token compared, a token stored, an operator turned.
//!
//! They are certain only where the statement already holds the operand, as `$2` or a column: a parameter more
//! would have to be bound in code.

use crate::facts::Span;
use crate::facts::sql::{Assignment, Comparison, Dialect, Expr, ExprKind, WriteVerb};
use crate::locks::guard::{NewToken, new_token};
use crate::locks::rows::RowWrite;

use super::{FixDraft, Part};

/// A comparison of the row's own column with something.
struct Compared<'e> {
    /// Read as `column OP operand`.
    operator: Comparison,
    operand: &'e Expr,
    /// It is written as `operand OP column`.
    is_mirrored: bool,
    /// What stands between the two.
    between: Span,
}

/// The comparison of a column at this place of the statement's own condition.
fn compared<'e>(row: &RowWrite<'e>, column: &str, at: Span) -> Option<Compared<'e>> {
    let mut waiting = vec![row.write.predicate.as_ref()?];
    while let Some(expr) = waiting.pop() {
        let ExprKind::Compare { operator, left, right } = &expr.kind else {
            waiting.extend(expr.kind.parts());
            continue;
        };
        let between = Span::new(left.span.end, right.span.start);
        if expr.span != at || between.end <= between.start || !is_text(row) {
            continue;
        }
        if is_own(row, left, column) {
            return Some(Compared { operator: *operator, operand: right, is_mirrored: false, between });
        }
        if is_own(row, right, column) {
            let operator = operator.mirrored();
            return Some(Compared { operator, operand: left, is_mirrored: true, between });
        }
    }
    None
}

fn is_own(row: &RowWrite<'_>, expr: &Expr, column: &str) -> bool {
    let ExprKind::Column { qualifier, name } = &expr.kind else { return false };
    let own = row.write.alias.as_deref().unwrap_or(&row.write.table.name);
    name.eq_ignore_ascii_case(column) && qualifier.as_deref().is_none_or(|q| q.eq_ignore_ascii_case(own))
}

fn spellings(operator: Comparison, is_mirrored: bool) -> &'static [&'static str] {
    let written = if is_mirrored { operator.mirrored() } else { operator };
    match written {
        Comparison::Less => &["<"],
        Comparison::LessOrEqual => &["<="],
        Comparison::Greater => &[">"],
        Comparison::GreaterOrEqual => &[">="],
        Comparison::NotEqual => &["!=", "<>"],
        _ => &[],
    }
}

/// Turns the operator of the comparison at this place, so that only newer tokens than the stored one pass.
pub(in crate::rules) fn compare_older(row: &RowWrite<'_>, column: &str, at: Span) -> Option<FixDraft> {
    let found = compared(row, column, at)?;
    let to = if found.is_mirrored { ">" } else { "<" };
    let from = spellings(found.operator, found.is_mirrored);
    Some(FixDraft::machine(format!("compare with `{to}`")).swap(row.site.at(found.between), from, to))
}

/// Turns the operator of a comparison with a version, so that only the version that was read passes.
pub(in crate::rules) fn compare_equal(row: &RowWrite<'_>, column: &str, at: Span) -> Option<FixDraft> {
    let found = compared(row, column, at)?;
    let from = spellings(found.operator, found.is_mirrored);
    Some(FixDraft::machine("compare with `=`").swap(row.site.at(found.between), from, "="))
}

/// Stores the token that the statement compares at this place.
pub(in crate::rules) fn store_compared(row: &RowWrite<'_>, column: &str, at: Span) -> Option<FixDraft> {
    let found = compared(row, column, at)?;
    let operand = operand(row, found.operand)?;
    let fix = FixDraft::machine(format!("set `{column}` to the token that is compared"));
    assign(fix, row, column, operand)
}

/// Counts a version up with each write.
pub(in crate::rules) fn raise(row: &RowWrite<'_>, column: &str) -> Option<FixDraft> {
    let fix = FixDraft::machine(format!("set `{column} = {column} + 1`"));
    assign(fix, row, column, vec![Part::text(format!("{column} + 1"))])
}

/// Refuses older tokens than the one that the statement brings along, and stores that one.
pub(in crate::rules) fn fence(row: &RowWrite<'_>, column: &str) -> Option<FixDraft> {
    let write = row.write;
    if !is_plain(row, column) || !is_text(row) {
        return None;
    }
    let (own, brought, is_stored) = match (write.verb, new_token(write, column)) {
        (WriteVerb::Upsert, new) => {
            let inserts = write.insert_columns.iter().any(|c| c.eq_ignore_ascii_case(column));
            let table = write.alias.as_deref().unwrap_or(&write.table.name);
            let is_stored = match new {
                NewToken::Kept => false,
                NewToken::Given(assignment) if is_excluded(&assignment.value, column) => true,
                _ => return None,
            };
            if !inserts || !is_plain(row, table) {
                return None;
            }
            (format!("{table}.{column}"), vec![Part::text(format!("EXCLUDED.{column}"))], is_stored)
        }
        (WriteVerb::Update, NewToken::Given(assignment)) => {
            (column.to_owned(), operand(row, &assignment.value)?, true)
        }
        _ => return None,
    };
    let fix = FixDraft::machine(format!("write only over an older `{column}`"));
    let mut comparison = vec![Part::text(format!("{own} < "))];
    comparison.extend(brought.iter().cloned());
    if let Some(condition) = write.clauses.condition {
        let fix = if is_stored { fix } else { assign(fix, row, column, brought)? };
        return Some(fix.replace(row.site.at(condition), joined(row, condition, comparison)));
    }
    let set = write.clauses.set.filter(|_| write.sources.is_empty())?;
    let mut with = vec![Part::Source(row.site.at(set))];
    if !is_stored {
        with.push(Part::text(format!(", {column} = ")));
        with.extend(brought);
    }
    with.push(Part::text(" WHERE "));
    with.extend(comparison);
    Some(fix.replace(row.site.at(set), with))
}

/// A condition and one more. An OR needs brackets to be one half of an AND.
fn joined(row: &RowWrite<'_>, condition: Span, more: Vec<Part>) -> Vec<Part> {
    let is_choice = matches!(row.write.predicate.as_ref().map(|p| &p.kind), Some(ExprKind::Or(_)));
    let (open, and) = if is_choice { ("(", ") AND ") } else { ("", " AND ") };
    let mut parts = vec![Part::text(open), Part::Source(row.site.at(condition)), Part::text(and)];
    parts.extend(more);
    parts
}

/// Adds an assignment at the end of SET, or gives the one that is there another value.
fn assign(fix: FixDraft, row: &RowWrite<'_>, column: &str, value: Vec<Part>) -> Option<FixDraft> {
    if !is_plain(row, column) || !is_text(row) {
        return None;
    }
    let set = row.write.clauses.set?;
    let there = row.write.assignments.iter().find(|a| a.column.eq_ignore_ascii_case(column));
    if let Some(assignment) = there {
        return has_whole_span(assignment).then(|| fix.replace(row.site.at(assignment.value.span), value));
    }
    let mut with = vec![Part::Source(row.site.at(set)), Part::text(format!(", {column} = "))];
    with.extend(value);
    Some(fix.replace(row.site.at(set), with))
}

/// Whether the place of an assignment's value holds all of its text; those of calls and queries do not.
fn has_whole_span(assignment: &Assignment) -> bool {
    let is_leaf = |e: &Expr| {
        matches!(e.kind, ExprKind::Column { .. } | ExprKind::Bind(_) | ExprKind::Number(_))
            && e.span.end > e.span.start
    };
    match &assignment.value.kind {
        ExprKind::Arithmetic { left, right, .. } => is_leaf(left) && is_leaf(right),
        _ => is_leaf(&assignment.value),
    }
}

/// An operand that may be written a second time: a numbered or named parameter, or a column.
fn operand(row: &RowWrite<'_>, e: &Expr) -> Option<Vec<Part>> {
    let is_one = matches!(e.kind, ExprKind::Bind(_) | ExprKind::Column { .. });
    is_one.then(|| vec![Part::Operand(row.site.at(e.span))])
}

fn is_excluded(e: &Expr, column: &str) -> bool {
    matches!(&e.kind, ExprKind::Column { qualifier: Some(q), name }
        if q.eq_ignore_ascii_case("excluded") && name.eq_ignore_ascii_case(column))
}

/// Whether the statement is written as SQL, all of it known.
fn is_text(row: &RowWrite<'_>) -> bool {
    row.site.complete && row.site.statement.parsed && row.write.clauses != Default::default()
}

/// Whether a name needs no quotes: those would depend on the literal around them.
fn is_plain(row: &RowWrite<'_>, name: &str) -> bool {
    let keeps_case = row.site.dialect != Dialect::Postgres;
    let fits = |c: char| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || (keeps_case && c.is_ascii_uppercase())
    };
    name.starts_with(|c: char| fits(c) && !c.is_ascii_digit()) && name.chars().all(fits)
}
