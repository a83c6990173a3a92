//! Local deadlines of leases that are counted from behind the reply of the acquire or renewal which they
//! belong to.

use std::collections::{BTreeMap, HashMap};

use crate::facts::Location;
use crate::facts::sql::Bind;
use crate::locks::{
    self, AddedSpan, Inventory, Key, LateDeadline, Lifetime, RowLease, Sequence, Share, Ttl, row_leases,
};

use super::super::evaluate::Evaluator;
use super::super::trace::{Action, Deadline, DeadlineLength, Trace};
use super::super::value::Value;
use super::binds::parameter;
use super::keys::field_values;
use super::lifetimes::lifetime;
use super::statements::StatementRuns;

/// Every such deadline, once.
pub fn late_deadlines(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    inventory: &Inventory,
    runs: &StatementRuns,
) -> Vec<LateDeadline> {
    let rows = row_leases(inventory);
    let by_function: HashMap<usize, &Sequence> =
        inventory.sequences.iter().map(|sequence| (sequence.number, sequence)).collect();
    let mut found: BTreeMap<Location, LateDeadline> = BTreeMap::new();
    let mut functions = order.to_vec();
    functions.sort_unstable();
    for function in functions {
        let Some(trace) = evaluator.trace(function).filter(|trace| !trace.deadlines.is_empty()) else {
            continue;
        };
        let sequence = by_function.get(&function);
        let mut given: Vec<Given> =
            sequence.into_iter().flat_map(|sequence| of_keys(&inventory.keys, sequence)).collect();
        given.extend(of_rows(evaluator, function, &trace, &rows, runs));
        // When such a request is sent is not where it is written.
        given.retain(|given| !trace.operations[given.step].context.put_aside);
        for deadline in &trace.deadlines {
            if let Some(late) = late(evaluator, &given, &trace, deadline) {
                found.entry(late.location).or_insert(late);
            }
        }
    }
    found.into_values().collect()
}

/// A lease that one step of a function gives, or gives more time.
struct Given {
    step: usize,
    ttl: Lifetime,
    request: Location,
    spawned_at: Option<Location>,
    lock: String,
    is_renewal: bool,
    is_test: bool,
}

fn of_keys<'s>(keys: &'s [Key], sequence: &'s Sequence) -> impl Iterator<Item = Given> + 's {
    let locks = sequence.operations.iter().filter(|operation| keys[operation.key].is_lock());
    locks.filter_map(|operation| {
        Some(Given {
            step: operation.step,
            ttl: ttl_given(&operation.action)?.clone(),
            request: operation.place(),
            spawned_at: operation.spawned_at,
            lock: keys[operation.key].name.clone(),
            is_renewal: !operation.action.is_acquire(),
            is_test: operation.is_test,
        })
    })
}

/// Leases on rows, for as long as the statement or its parameter says.
fn of_rows(
    evaluator: &Evaluator<'_>,
    function: usize,
    trace: &Trace,
    rows: &[RowLease<'_>],
    runs: &StatementRuns,
) -> Vec<Given> {
    let mut given = Vec::new();
    for (step, operation) in trace.operations.iter().enumerate() {
        let (Action::Sql(call), Some(run)) = (&operation.action, runs.get(&(function, step))) else {
            continue;
        };
        for lease in rows.iter().filter(|lease| run.contains(&lease.statement)) {
            let ttl = match lease.span {
                AddedSpan::Millis(millis) => Lifetime { millis: Some(millis), ..Lifetime::UNKNOWN },
                AddedSpan::Bound(bind, unit) => match bound_value(&call.binds, bind) {
                    Some(value) => lifetime(evaluator, value, unit),
                    None => continue,
                },
            };
            given.push(Given {
                step,
                ttl,
                request: operation.via.first().copied().unwrap_or(operation.location),
                spawned_at: operation.context.spawned_at,
                lock: lease.table.to_owned(),
                is_renewal: lease.is_renewal,
                is_test: lease.site.is_test,
            });
        }
    }
    given.retain(|given| given.ttl.is_known());
    given
}

fn bound_value<'v>(values: &'v [Value], bind: &Bind) -> Option<&'v Value> {
    match bind {
        Bind::Position(number) => values.get(usize::try_from(*number).ok()?.checked_sub(1)?),
        Bind::Name(name) => values
            .iter()
            .map(parameter)
            .find(|(known, _)| known.as_ref() == Some(name))
            .map(|(_, value)| value),
    }
}

/// The deadline, when it is as long as the lease that was given last before its clock was read.
fn late(
    evaluator: &Evaluator<'_>,
    given: &[Given],
    trace: &Trace,
    deadline: &Deadline,
) -> Option<LateDeadline> {
    let before = given
        .iter()
        .filter(|given| given.step < deadline.from.position && given.spawned_at == deadline.spawned_at);
    let last = before.max_by_key(|given| given.step)?;
    let is_of_lease = match &deadline.length {
        DeadlineLength::Span(span) => is_as_long(evaluator, span, &last.ttl),
        DeadlineLength::OfField(field) => {
            let spans = evaluator.aged_fields.get(field);
            spans.is_some_and(|spans| spans.iter().any(|span| is_as_long(evaluator, span, &last.ttl)))
        }
    };
    (is_of_lease && !is_refused(trace, last.step, deadline)).then(|| LateDeadline {
        location: deadline.from.location,
        request: last.request,
        lock: last.lock.clone(),
        is_renewal: last.is_renewal,
        has_margin: deadline.has_margin,
        is_test: last.is_test,
    })
}

fn is_as_long(evaluator: &Evaluator<'_>, span: &Value, ttl: &Lifetime) -> bool {
    let kept = field_values(evaluator, span).unwrap_or_default();
    std::iter::once(span).chain(kept).any(|span| {
        let length = lifetime(evaluator, span, 1);
        // Named spans may be the same by name and differ in value.
        match (length.millis, ttl.millis) {
            (Some(length), Some(ttl)) => length == ttl,
            _ => is_same(length.share.as_ref(), ttl.share.as_ref()),
        }
    })
}

/// Whoever was refused the lease counts until it may be free.
fn is_refused(trace: &Trace, step: usize, deadline: &Deadline) -> bool {
    deadline.guards.iter().any(|(condition, holds)| {
        let mut is_sure = !condition.flows.replies.contains(&step);
        condition.known_answers(*holds, &mut |value, positive| {
            is_sure |= positive && value.flows.replies.contains(&step);
        });
        !is_sure && trace.operations.get(step).is_some()
    })
}

fn ttl_given(action: &locks::Action) -> Option<&Lifetime> {
    match action {
        locks::Action::Acquire { ttl: Ttl::Given(ttl), .. }
        | locks::Action::Expire { ttl: Ttl::Given(ttl), .. }
        | locks::Action::Overwrite { ttl: Ttl::Given(ttl), only_if_present: true, .. } => Some(ttl),
        _ => None,
    }
    .filter(|ttl| ttl.is_known())
}

fn is_same(left: Option<&Share>, right: Option<&Share>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    let products =
        (left.numerator.checked_mul(right.denominator), right.numerator.checked_mul(left.denominator));
    left.of == right.of && matches!(products, (Some(a), Some(b)) if a == b)
}
