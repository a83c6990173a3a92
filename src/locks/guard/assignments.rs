//! Guards inside SET: `x = IF(token < VALUES(token), VALUES(x), x)` and CASE.
//!
//! An upsert of MySQL has no WHERE, so each assignment must compare for itself; and MySQL assigns from
//! left to right, so that a token set early makes the later comparisons see the new one.

use super::operand::is_new_row;
use super::predicate::Frame;
use super::{Guard, GuardKind, LooseReason, Question, Verdict, loose};
use crate::facts::sql::{Assignment, Dialect, Expr, ExprKind, WriteVerb};
use crate::locks::naming;

pub(super) fn judge(question: Question<'_>) -> Verdict {
    let write = question.write;
    let is_token = |a: &Assignment| a.column.eq_ignore_ascii_case(question.column);
    let guards: Vec<(&Assignment, Option<Guard>)> = write
        .assignments
        .iter()
        .filter(|a| !is_token(a) && !naming::is_audit(&a.column))
        .map(|a| (a, guard_of(question, a)))
        .collect();
    let guarded = guards.iter().filter(|(_, g)| g.is_some()).count();
    if guarded == 0 {
        return match write.assignments.iter().find(|a| is_token(a)) {
            Some(a) if compares_token(question, a) => loose(LooseReason::SetOnly, a.span),
            _ => Verdict::Absent,
        };
    }
    if let Some((open, _)) = guards.iter().find(|(_, g)| g.is_none()) {
        return loose(LooseReason::SomeAssignments, open.span);
    }
    if let Some(early) = set_too_early(question) {
        return loose(LooseReason::SetBeforeCompared, early.span);
    }
    let weakest = guards.into_iter().filter_map(|(_, g)| g).max_by_key(|g| g.how);
    weakest.map_or(Verdict::Absent, Verdict::Guarded)
}

/// The condition under which the assignment changes anything, when that is a guard.
fn guard_of(question: Question<'_>, assignment: &Assignment) -> Option<Guard> {
    let (branches, otherwise) = branches(&assignment.value)?;
    let frame = Frame::top(question);
    let mut weakest: Option<Guard> = None;
    let mut passed: Vec<&Expr> = Vec::new();
    let mut ways: Vec<(Option<&Expr>, &Expr)> = branches.iter().map(|(c, r)| (Some(*c), *r)).collect();
    ways.extend(otherwise.map(|o| (None, o)));
    for (condition, result) in ways {
        if !keeps(question, assignment, result) {
            let held = condition.map(|c| frame.judge(c, false));
            let after = passed.iter().map(|c| frame.judge(c, true));
            let guard = held.into_iter().chain(after).find_map(|v| match v {
                Verdict::Guarded(guard) => Some(guard),
                _ => None,
            })?;
            if weakest.as_ref().is_none_or(|w| guard.how > w.how) {
                weakest = Some(guard);
            }
        }
        passed.extend(condition);
    }
    weakest
}

type Branches<'a> = (Vec<(&'a Expr, &'a Expr)>, Option<&'a Expr>);

fn branches(value: &Expr) -> Option<Branches<'_>> {
    match &value.kind {
        ExprKind::Call { name, args } if (name == "if" || name == "iif") && args.len() == 3 => {
            Some((vec![(&args[0], &args[1])], Some(&args[2])))
        }
        ExprKind::Case { operand: None, branches, otherwise } => {
            Some((branches.iter().map(|(c, r)| (c, r)).collect(), otherwise.as_deref()))
        }
        ExprKind::Cast { operand, .. } => branches(operand),
        _ => None,
    }
}

/// Whether the result leaves the column as it is.
fn keeps(question: Question<'_>, assignment: &Assignment, result: &Expr) -> bool {
    match &result.kind {
        ExprKind::Column { qualifier, name } => {
            let own = match qualifier.as_deref() {
                None => true,
                q if is_new_row(q) => false,
                Some(q) => {
                    q.eq_ignore_ascii_case(super::row_name(question.write))
                        || q.eq_ignore_ascii_case(&question.write.table.name)
                }
            };
            own && name.eq_ignore_ascii_case(&assignment.column)
        }
        ExprKind::Cast { operand, .. } => keeps(question, assignment, operand),
        _ => false,
    }
}

/// Whether the token's own assignment only ever raises it.
fn compares_token(question: Question<'_>, assignment: &Assignment) -> bool {
    match &assignment.value.kind {
        ExprKind::Call { name, .. } => name == "greatest" || name == "max" || name == "if",
        ExprKind::Case { .. } => guard_of(question, assignment).is_some(),
        _ => false,
    }
}

/// The token's assignment, where it stands before a comparison that needs the old token. `<=` does not where
/// the assignment only ever raises it: the raised token equals the new one just when the new one was not older.
fn set_too_early<'a>(question: Question<'a>) -> Option<&'a Assignment> {
    let write = question.write;
    let sequential = write.verb == WriteVerb::DuplicateKeyUpdate || question.dialect == Dialect::MySql;
    let at = write.assignments.iter().position(|a| a.column.eq_ignore_ascii_case(question.column))?;
    let only_raised = compares_token(question, &write.assignments[at]);
    let needs_old = |a: &Assignment| {
        guard_of(question, a).is_some_and(|g| g.how != GuardKind::LessOrEqual || !only_raised)
    };
    (sequential && write.assignments[at + 1..].iter().any(needs_old)).then(|| &write.assignments[at])
}
