//! Updates that keep a queue going and give no row to any worker: reapers, which take rows from workers that
//! went silent, and schedulers, which let rows in whose time has come.
//!
//! Like a claim they may pick rows with SKIP LOCKED, compare a state and a time, and set a state. What tells
//! them apart is what is known of the states, and at last whether anybody could learn from the update which
//! rows are his. Single workers' last words are not judged here.

use super::walk::{inner_selects, is_before, is_null, literal, own_compares};
use super::{TableProfile, contains};
use crate::facts::sql::{Comparison, Expr, ExprKind, Write, WriteVerb};
use crate::locks::naming::{self, queue};
use crate::locks::statement::SqlSite;

/// What becomes of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::locks) enum Upkeep {
    /// A silent worker loses them to the next one.
    Requeues,
    /// They are over: failed, dead, expired.
    Ends,
    /// Nobody had them, and now they wait for a worker.
    Promotes,
}

/// `SET state = 'queued' WHERE state = 'running' AND seen_at < …`, the rows picked directly or by a query.
pub(in crate::locks) fn upkeep(profile: &TableProfile, site: &SqlSite, write: &Write) -> Option<Upkeep> {
    if !asks_age(profile, write) || gives_holder(profile, write) {
        return None;
    }
    let given: Vec<&Expr> =
        write.assignments.iter().filter(|a| naming::is_state(&a.column)).map(|a| &a.value).collect();
    let asked = asked_states(write);
    // Whoever asks for the state that he gives takes the row over.
    if given.iter().any(|state| asked.iter().any(|other| is_same(site, state, other))) {
        return None;
    }
    let names = |states: &[&Expr]| -> Vec<String> {
        states.iter().filter_map(|state| literal(site, state)).collect()
    };
    by_states(profile, write, &names(&given), &names(&asked))
        .unwrap_or_else(|| by_shape(profile, write, !given.is_empty()))
}

/// What the states alone say, where they say something; `Some(None)` is a claim.
fn by_states(
    profile: &TableProfile,
    write: &Write,
    given: &[String],
    asked: &[String],
) -> Option<Option<Upkeep>> {
    let says_running =
        |state: &String| contains(&profile.running_states, state) || queue::is_running_state(state);
    if given.iter().any(|state| naming::is_terminal_state(state)) {
        return Some(Some(Upkeep::Ends));
    }
    if given.iter().any(says_running) {
        return Some(None);
    }
    if asked.iter().any(says_running) {
        return Some(Some(Upkeep::Requeues));
    }
    if !given.iter().any(|state| queue::is_waiting_state(state)) {
        return None;
    }
    let had_none = !asked.is_empty() && asked.iter().all(|state| queue::is_waiting_state(state));
    Some(Some(if !had_none && asks_silence(write) { Upkeep::Requeues } else { Upkeep::Promotes }))
}

/// What the rest of the statement says: a claim begins something, or tells its worker which rows he got.
fn by_shape(profile: &TableProfile, write: &Write, sets_state: bool) -> Option<Upkeep> {
    let silence = asks_silence(write);
    if silence && write.assignments.iter().any(|a| is_holding(profile, &a.column) && is_null(&a.value)) {
        return Some(Upkeep::Requeues);
    }
    let begins = write.assignments.iter().any(|a| begins(profile, write, &a.column) && !is_null(&a.value));
    let tells_nobody = write.returning.is_none() && !picks_by_value(write);
    if !sets_state || begins || !tells_nobody {
        return None;
    }
    if silence {
        Some(Upkeep::Requeues)
    } else {
        conditions(write).any(|part| is_plain(part, &is_aged)).then_some(Upkeep::Promotes)
    }
}

/// Whether an update picks rows by a time that has gone by; a row that the caller names must have gone
/// unheard of, for any other time may be its version.
pub(super) fn asks_age(profile: &TableProfile, write: &Write) -> bool {
    let held = |compare: &(&str, Comparison, &Expr)| {
        is_holding(profile, compare.0) || queue::is_sign_of_life(compare.0)
    };
    let named = picks_by_value(write);
    write.verb == WriteVerb::Update
        && conditions(write)
            .flat_map(|part| own_compares(Some(part)))
            .any(|compare| is_aged(&compare) && (!named || held(&compare)))
}

fn asks_silence(write: &Write) -> bool {
    conditions(write).any(|part| is_plain(part, &is_silent))
}

/// Whether a query picks rows that nobody has touched for some time.
pub(super) fn picks_silent(predicate: Option<&Expr>) -> bool {
    predicate.into_iter().flat_map(conjuncts).any(|part| is_plain(part, &is_silent))
}

/// A comparison of a column.
type Compare<'e> = (&'e str, Comparison, &'e Expr);

/// Whether a part of a condition holds such a comparison and no state: beside a state in an OR, a time is a
/// condition on the rows of that state only.
fn is_plain(part: &Expr, test: &dyn Fn(&Compare<'_>) -> bool) -> bool {
    let compares = own_compares(Some(part));
    !compares.iter().any(|(column, ..)| naming::is_state(column)) && compares.iter().any(test)
}

/// Whether a comparison lets in what lies before some moment.
fn is_aged((column, operator, other): &Compare<'_>) -> bool {
    let timed = naming::is_time(column) || naming::is_audit(column) || queue::is_sign_of_life(column);
    is_before(*operator) && timed && is_clock_or_given(other)
}

/// Whether a comparison lets in what has not been touched for some time, rather than what is due.
pub(super) fn is_silent(compare: &Compare<'_>) -> bool {
    is_aged(compare) && !queue::is_due_time(compare.0)
}

fn is_holding(profile: &TableProfile, column: &str) -> bool {
    profile.is_owner(column) || profile.is_deadline(column) || profile.is_claim_time(column)
}

/// A time that a claim sets and a reaper leaves alone.
fn begins(profile: &TableProfile, write: &Write, column: &str) -> bool {
    let compared = || {
        conditions(write)
            .flat_map(|part| own_compares(Some(part)))
            .any(|compare| is_aged(&compare) && compare.0.eq_ignore_ascii_case(column))
    };
    is_holding(profile, column)
        || queue::is_start_time(column)
        || queue::is_sign_of_life(column)
        || (!naming::is_audit(column) && compared())
}

fn gives_holder(profile: &TableProfile, write: &Write) -> bool {
    write.assignments.iter().any(|a| profile.is_owner(&a.column) && !is_null(&a.value))
}

/// The states that the rows are asked for, by the statement itself or by the query that picks them.
fn asked_states(write: &Write) -> Vec<&Expr> {
    let asked = conditions(write).flat_map(|part| own_compares(Some(part)));
    asked
        .filter(|(column, operator, _)| *operator == Comparison::Equal && naming::is_state(column))
        .map(|(.., value)| value)
        .collect()
}

fn is_same(site: &SqlSite, a: &Expr, b: &Expr) -> bool {
    match (literal(site, a), literal(site, b)) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(&b),
        _ => matches!((&a.kind, &b.kind), (ExprKind::Bind(a), ExprKind::Bind(b)) if a == b),
    }
}

/// Whether the statement's own condition names a row by a value of the caller, who so knows which it is.
fn picks_by_value(write: &Write) -> bool {
    own_compares(write.predicate.as_ref()).iter().any(|(column, operator, other)| {
        let given = matches!(other.kind, ExprKind::Bind(_) | ExprKind::Hole);
        *operator == Comparison::Equal && given && !naming::is_state(column)
    })
}

/// What must hold of a row that the update changes: in its own condition, and in the queries that pick rows.
fn conditions(write: &Write) -> impl Iterator<Item = &Expr> {
    let picked = inner_selects(write).into_iter().filter_map(|select| select.predicate.as_ref());
    write.predicate.iter().chain(picked).flat_map(conjuncts)
}

/// The parts of a condition that must all hold.
fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![e],
    }
}

/// A clock, or a moment that the caller worked out.
fn is_clock_or_given(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { .. } | ExprKind::Bind(_) | ExprKind::Hole => true,
        ExprKind::Arithmetic { left, right, .. } => is_clock_or_given(left) || is_clock_or_given(right),
        ExprKind::Cast { operand, .. } => is_clock_or_given(operand),
        ExprKind::Query(_) => true,
        _ => false,
    }
}
