//! What a write is for: taking, keeping, giving up or sweeping a lease, or changing what it protects.

use super::Purpose;
use crate::facts::sql::{Comparison, Expr, ExprKind, Write, WriteVerb};
use crate::locks::naming::{self, queue};
use crate::locks::statement::SqlSite;
use crate::locks::tables::{
    TableProfile, contains, inner_selects, is_before, is_null, literal, own_compares, upkeep,
};

pub(super) fn of(site: &SqlSite, write: &Write, profile: &TableProfile) -> Purpose {
    if upkeep(profile, site, write).is_some() {
        Purpose::Sweep
    } else if is_acquire(site, write, profile) {
        Purpose::Acquire
    } else if is_sweep(site, write, profile) {
        Purpose::Sweep
    } else if is_release(write, profile) {
        Purpose::Release
    } else if is_renewal(write, profile) {
        Purpose::Renew
    } else if is_bookkeeping(write, profile) || is_request(site, write) {
        Purpose::Bookkeeping
    } else {
        Purpose::Protected
    }
}

fn is_acquire(site: &SqlSite, write: &Write, profile: &TableProfile) -> bool {
    let conditions = own_compares(write.predicate.as_ref());
    // Rows that others skip while we hold them are being taken.
    let picks = inner_selects(write).iter().any(|s| s.skip_locked);
    write.assignments.iter().any(|a| {
        if is_null(&a.value) || keeps(&a.value, &a.column) {
            return false;
        }
        let deadline = profile.is_deadline(&a.column);
        let expired = |c: &str, o: Comparison| is_before(o) && c.eq_ignore_ascii_case(&a.column);
        profile.is_owner(&a.column)
            || (deadline && conditions.iter().any(|(c, o, _)| expired(c, *o)))
            || (deadline && tests_null(write.predicate.as_ref(), &a.column))
            || (naming::is_state(&a.column) && picks)
            || (naming::is_state(&a.column)
                && literal(site, &a.value).is_some_and(|s| contains(&profile.running_states, &s)))
    })
}

/// `column IS NULL` anywhere in the condition.
fn tests_null(e: Option<&Expr>, column: &str) -> bool {
    let Some(e) = e else { return false };
    match &e.kind {
        ExprKind::NullTest { operand, negated: false } => {
            matches!(&operand.kind, ExprKind::Column { name, .. } if name.eq_ignore_ascii_case(column))
        }
        _ => e.kind.parts().into_iter().any(|p| tests_null(Some(p), column)),
    }
}

/// Rows chosen by age, tombstone or final state rather than by their key.
fn is_sweep(site: &SqlSite, write: &Write, profile: &TableProfile) -> bool {
    if !matches!(write.verb, WriteVerb::Update | WriteVerb::Delete) {
        return false;
    }
    let conditions = own_compares(write.predicate.as_ref());
    let timed = |c: &str| naming::is_time(c) || profile.is_deadline(c) || profile.is_claim_time(c);
    if conditions.iter().any(|(c, o, _)| is_before(*o) && timed(c)) {
        let lease = |c: &str| profile.is_deadline(c) || profile.is_claim_time(c) || profile.is_lock_table;
        return write.verb == WriteVerb::Delete
            || !picks_row(write)
            || conditions.iter().any(|(c, o, _)| is_before(*o) && lease(c));
    }
    let finished = conditions.iter().any(|(c, o, v)| {
        let terminal = || literal(site, v).is_some_and(|s| naming::is_terminal_state(&s));
        *o == Comparison::Equal && naming::is_state(c) && terminal()
    });
    let tombstone = write.predicate.as_ref().is_some_and(tests_tombstone);
    finished || (write.verb == WriteVerb::Delete && (tombstone || is_negated_set(write.predicate.as_ref())))
}

fn tests_tombstone(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::NullTest { operand, negated: true } => {
            matches!(&operand.kind, ExprKind::Column { name, .. } if naming::is_time(name) && !naming::is_deadline(name))
        }
        _ => e.kind.parts().into_iter().any(tests_tombstone),
    }
}

/// `NOT key = ANY($keep)`: what is not on a list goes.
fn is_negated_set(e: Option<&Expr>) -> bool {
    e.is_some_and(|e| match &e.kind {
        ExprKind::InList { negated, .. } | ExprKind::InQuery { negated, .. } => *negated,
        ExprKind::Not(inner) => matches!(inner.kind, ExprKind::InList { .. } | ExprKind::InQuery { .. }),
        ExprKind::And(list) => list.iter().any(|p| is_negated_set(Some(p))),
        _ => false,
    })
}

fn is_release(write: &Write, profile: &TableProfile) -> bool {
    if write.verb == WriteVerb::Delete {
        return profile.is_lock_table;
    }
    let lease = |c: &str| profile.is_owner(c) || profile.is_deadline(c) || profile.is_claim_time(c);
    let mut frees = false;
    for assignment in &write.assignments {
        if lease(&assignment.column) {
            let gone = is_null(&assignment.value)
                || (profile.is_deadline(&assignment.column) && is_now(&assignment.value));
            if !gone {
                return false;
            }
            frees = true;
        } else if !naming::is_audit(&assignment.column)
            && !is_token(profile, &assignment.column)
            && !profile.is_lock_table
        {
            return false;
        }
    }
    frees && write.verb == WriteVerb::Update
}

fn is_renewal(write: &Write, profile: &TableProfile) -> bool {
    let lease = |c: &str| profile.is_deadline(c) || profile.is_claim_time(c);
    let moves = write.assignments.iter().any(|a| lease(&a.column) && !is_null(&a.value));
    let only = write
        .assignments
        .iter()
        .all(|a| lease(&a.column) || naming::is_audit(&a.column) || is_token(profile, &a.column));
    moves && only && write.verb != WriteVerb::Delete
}

fn is_bookkeeping(write: &Write, profile: &TableProfile) -> bool {
    let plain = |c: &str| naming::is_audit(c) || is_token(profile, c);
    match write.verb {
        WriteVerb::Insert => true,
        WriteVerb::Delete | WriteVerb::Replace => false,
        _ => write.assignments.iter().all(|a| plain(&a.column)),
    }
}

/// Nothing but a state that asks the row's worker for something, such as to stop.
fn is_request(site: &SqlSite, write: &Write) -> bool {
    let asks = |value: &Expr| literal(site, value).is_some_and(|state| queue::is_request_state(&state));
    let states = || write.assignments.iter().filter(|a| naming::is_state(&a.column));
    write.verb == WriteVerb::Update
        && states().next().is_some()
        && states().all(|a| asks(&a.value))
        && write.assignments.iter().all(|a| naming::is_state(&a.column) || naming::is_audit(&a.column))
}

fn is_token(profile: &TableProfile, column: &str) -> bool {
    profile.is_token(column)
}

pub(super) fn finishes_claim(site: &SqlSite, write: &Write, profile: &TableProfile) -> bool {
    if !profile.is_claim_table()
        || !matches!(write.verb, WriteVerb::Update | WriteVerb::Delete)
        || !picks_row(write)
    {
        return false;
    }
    let states: Vec<String> = own_compares(write.predicate.as_ref())
        .iter()
        .filter(|(c, o, _)| *o == Comparison::Equal && naming::is_state(c))
        .filter_map(|(_, _, v)| literal(site, v))
        .collect();
    let waits = states.iter().any(|s| contains(&profile.waiting_states, s));
    let runs = states.iter().any(|s| contains(&profile.running_states, s));
    if waits && !runs {
        return false;
    }
    let ends = |a: &crate::facts::sql::Assignment| {
        let state = naming::is_state(&a.column)
            && !literal(site, &a.value)
                .is_some_and(|s| naming::is_user_state(&s) || contains(&profile.running_states, &s));
        state || naming::is_finish_mark(&a.column) || (profile.is_owner(&a.column) && is_null(&a.value))
    };
    let by_user = site.function.as_deref().is_some_and(naming::is_administrative);
    !by_user && (write.verb == WriteVerb::Delete || write.assignments.iter().any(ends))
}

/// Whether the condition picks rows by a value that the caller brings.
pub(super) fn picks_row(write: &Write) -> bool {
    let given = |e: &Expr| {
        matches!(&e.kind, ExprKind::Bind(_) | ExprKind::Hole | ExprKind::Cast { .. } | ExprKind::Other(_))
    };
    let direct = own_compares(write.predicate.as_ref())
        .iter()
        .any(|(c, o, v)| *o == Comparison::Equal && given(v) && !naming::is_state(c));
    direct || write.predicate.as_ref().is_some_and(in_query)
}

fn in_query(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::InQuery { negated: false, .. } => true,
        _ => e.kind.parts().into_iter().any(in_query),
    }
}

/// A clock without anything added: a deadline set to it, or to a time before it, is over.
fn is_now(e: &Expr) -> bool {
    if let ExprKind::Arithmetic { operator: '-', left, .. } = &e.kind {
        return is_now(left);
    }
    matches!(&e.kind, ExprKind::Call { name, args } if args.iter().all(|a| matches!(a.kind, ExprKind::Text(_) | ExprKind::Number(_)))
        && naming::is_database_clock(name))
}

pub(super) fn keeps(e: &Expr, column: &str) -> bool {
    matches!(&e.kind, ExprKind::Column { qualifier: None, name } if name.eq_ignore_ascii_case(column))
}
