//! Does a statement refuse a stale token for the very row that it writes?
//!
//! Pure logic over one statement's facts: boolean structure, operators and their direction, who a column
//! belongs to, and what upserts and CASE do. It knows no schema beyond a question about columns, and
//! makes no finding.

mod assignments;
mod operand;
mod predicate;
mod sources;

use crate::facts::Span;
use crate::facts::sql::{Assignment, Cte, Dialect, Expr, ExprKind, SourceKind, TableName, Write, WriteVerb};

/// What stands between a stale holder and the row, for one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Guarded(Guard),
    /// The column is compared, and stale tokens pass all the same.
    Loose(Looseness),
    /// The column is not compared at all.
    Absent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    pub how: GuardKind,
    /// The comparison that guards.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardKind {
    /// Refuses every token that is not newer.
    Less,
    /// Refuses older tokens; the same token may write again.
    LessOrEqual,
    /// Compare-and-set: only the value that was read or given passes.
    Equal,
    /// Another row (a fence or lease row) or a locked reading of this one was checked by the statement.
    OtherRow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looseness {
    pub reason: LooseReason,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LooseReason {
    /// `token <> $1`
    NotEqual,
    /// `token > $1`, `token >= $1`
    WrongWay,
    /// `token < token + 1`
    Itself,
    /// `token < 999`
    Constant,
    /// `token < $1 OR force`
    OrAround,
    /// The column compared is that of a joined table.
    OtherTable,
    /// `EXISTS (SELECT … WHERE token < $1)` about any row.
    Uncorrelated,
    /// A reading of the row that does not lock it.
    Unlocked,
    /// Another table's row that is read and not locked.
    UnlockedOther,
    /// `ON CONFLICT (…) WHERE token < …` chooses an index.
    ConflictTarget,
    /// In a MERGE's ON: a stale token inserts instead.
    MergeOn,
    /// Only the token's own assignment compares.
    SetOnly,
    /// Some assignments compare and others do not.
    SomeAssignments,
    /// MySQL assigns from left to right: the token is set before it is compared.
    SetBeforeCompared,
}

/// The question: which column of which statement, and what is known around it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub write: &'a Write,
    pub dialect: Dialect,
    /// The token, version or owner column.
    pub column: &'a str,
    /// CTEs of the statement around it.
    pub outer_ctes: &'a [Cte],
    /// Whether a table has a column, as far as that is known.
    pub has_column: &'a dyn Fn(&TableName, &str) -> Option<bool>,
}

pub fn judge(question: Question<'_>) -> Verdict {
    let write = question.write;
    match write.verb {
        WriteVerb::Replace => Verdict::Absent,
        WriteVerb::DuplicateKeyUpdate => assignments::judge(question),
        // What does not match ON is inserted, where the statement inserts; else nothing happens to it.
        WriteVerb::Merge => match conjunction(question, !inserts(write)) {
            Verdict::Absent if guards_in_joins(question) => {
                let span = write.join_conditions.first().map_or(write.table_span, |j| j.span);
                loose(LooseReason::MergeOn, span)
            }
            other => other,
        },
        WriteVerb::Upsert => match and(conjunction(question, false), assignments::judge(question)) {
            Verdict::Absent => conflict_target(question),
            other => other,
        },
        WriteVerb::Update => and(conjunction(question, true), assignments::judge(question)),
        WriteVerb::Delete => conjunction(question, true),
        WriteVerb::Insert => Verdict::Absent,
    }
}

/// Everything that must hold for the row to be written.
fn conjunction(question: Question<'_>, with_joins: bool) -> Verdict {
    let frame = predicate::Frame::top(question);
    let write = question.write;
    let mut verdict = write.predicate.as_ref().map_or(Verdict::Absent, |p| frame.judge(p, false));
    if with_joins {
        for condition in &write.join_conditions {
            verdict = and(verdict, frame.judge(condition, false));
        }
    }
    if !matches!(write.verb, WriteVerb::Upsert) {
        verdict = and(verdict, sources::judge(&frame));
    }
    verdict
}

fn inserts(write: &Write) -> bool {
    !write.insert_columns.is_empty() || !write.insert_values.is_empty()
}

fn guards_in_joins(question: Question<'_>) -> bool {
    let frame = predicate::Frame::top(question);
    let guarded =
        |c: &Expr| matches!(frame.judge(c, false), Verdict::Guarded(g) if g.how != GuardKind::Equal);
    question.write.join_conditions.iter().any(guarded)
}

fn conflict_target(question: Question<'_>) -> Verdict {
    let frame = predicate::Frame::top(question);
    match &question.write.conflict_predicate {
        Some(p) if frame.judge(p, false) != Verdict::Absent => loose(LooseReason::ConflictTarget, p.span),
        _ => Verdict::Absent,
    }
}

/// One guard among conditions that must all hold is enough.
fn and(a: Verdict, b: Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Guarded(a), Verdict::Guarded(b)) => Verdict::Guarded(if b.how < a.how { b } else { a }),
        (guarded @ Verdict::Guarded(_), _) | (_, guarded @ Verdict::Guarded(_)) => guarded,
        (loose @ Verdict::Loose(_), _) | (_, loose @ Verdict::Loose(_)) => loose,
        _ => Verdict::Absent,
    }
}

fn loose(reason: LooseReason, span: Span) -> Verdict {
    Verdict::Loose(Looseness { reason, span })
}

/// What the statement stores in the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewToken<'a> {
    /// It leaves the column alone, or sets it to itself.
    Kept,
    /// `token = token + 1` and the like.
    Raised(&'a Assignment),
    /// A value from outside the row.
    Given(&'a Assignment),
}

pub fn new_token<'a>(write: &'a Write, column: &str) -> NewToken<'a> {
    let Some(assignment) = write.assignments.iter().find(|a| a.column.eq_ignore_ascii_case(column)) else {
        return NewToken::Kept;
    };
    let own = |e: &Expr| matches!(&e.kind, ExprKind::Column { qualifier, name } if name.eq_ignore_ascii_case(column) && !operand::is_new_row(qualifier.as_deref()));
    if own(&assignment.value) {
        return NewToken::Kept;
    }
    match &assignment.value.kind {
        ExprKind::Arithmetic { left, right, .. } if own(left) || own(right) => NewToken::Raised(assignment),
        _ => NewToken::Given(assignment),
    }
}

/// The name that the statement's own row goes by.
fn row_name(write: &Write) -> &str {
    write.alias.as_deref().unwrap_or(&write.table.name)
}

/// Whether one of the statement's other sources is a real table with this column.
fn other_source_has(question: &Question<'_>, column: &str) -> bool {
    question.write.sources.iter().any(|s| match &s.kind {
        SourceKind::Table(table) => (question.has_column)(table, column) == Some(true),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
