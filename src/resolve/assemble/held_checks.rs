//! Looks in memory at a lease that say it is still held where an operation runs: `is_held()` and its like, and
//! comparisons of a clock with the end of the lease. Whether the operation needs more than that is not asked here.

use std::rc::Rc;

use crate::facts::rust::BinaryOperator;
use crate::locks::timeline::HeldCheck;
use crate::locks::vocabulary::{asks_held, names_lease, says_held, says_holding, says_lock};

use super::super::condition::Condition;
use super::super::evaluate::{Evaluator, is_age};
use super::super::trace::{DeadlineLength, Operation, Trace};
use super::super::value::{Asks, Form, HeldQuestion, Moment, Value};
use super::lease_types::{LeaseTypes, is_deadline, is_start};
use super::lifetimes::lifetime;

/// Conditions inside conditions are followed this deep.
const MAX_DEPTH: usize = 12;

/// The checks of one function.
pub(super) struct Checks<'s, 'a> {
    pub(super) evaluator: &'s Evaluator<'a>,
    pub(super) lease_types: &'s LeaseTypes<'s, 'a>,
    pub(super) function: usize,
    pub(super) trace: &'s Trace,
    /// Those of the function's sequence.
    pub(super) operations: &'s [crate::locks::Operation],
}

impl Checks<'_, '_> {
    /// The innermost one that says yes where an operation runs.
    pub(super) fn before(&self, operation: &Operation) -> Option<HeldCheck> {
        operation.guards.iter().find_map(|(condition, holds)| {
            let question = condition.flows.held.as_ref()?;
            let is_held = says_yes(condition, question, *holds, MAX_DEPTH) == Some(true);
            let is_of_known_lease = is_held.then(|| self.is_of_lease(condition, question))??;
            let name = match &question.asks {
                Asks::Name { name, .. } => Some(name.to_string()),
                Asks::Clock => None,
            };
            Some(HeldCheck { location: question.location, name, is_of_known_lease })
        })
    }

    /// Whether a lease is asked: one that the code around shows to be one, or something that is called so.
    fn is_of_lease(&self, condition: &Value, question: &HeldQuestion) -> Option<bool> {
        match &question.asks {
            Asks::Name { name, of } => {
                let is_known = self.lease_types.has(of, self.function, self.trace)
                    && (says_held(name)
                        || says_lock(of)
                        || says_holding(of)
                        || self.rests_on_deadline(condition));
                (is_known || (says_held(name) && names_lease(of))).then_some(is_known)
            }
            Asks::Clock => {
                let is_of_acquire =
                    || condition.flows.monotonic.is_some_and(|from| self.counts_from_acquire(from));
                (self.rests_on_deadline(condition) || is_of_acquire()).then_some(true)
            }
        }
    }

    /// Whether it looks at a field that says when a lease ends or began.
    fn rests_on_deadline(&self, condition: &Value) -> bool {
        let mut times = condition.flows.fields.iter().filter(|(_, name)| is_time(name));
        times.any(|(owner, _)| self.lease_types.has(owner, self.function, self.trace))
    }

    /// A span about as long as the lease, from right before the request that acquires it or behind its reply.
    fn counts_from_acquire(&self, from: Moment) -> bool {
        let is_near = |step: usize| step == from.position || step + 1 == from.position;
        let acquires =
            self.operations.iter().filter(|known| known.action.is_acquire() && is_near(known.step));
        let mut ttls = acquires.filter_map(|known| known.action.lifetime());
        ttls.any(|ttl| {
            self.trace.deadlines.iter().filter(|deadline| deadline.from == from).any(|deadline| {
                let DeadlineLength::Span(span) = &deadline.length else { return false };
                let part = lifetime(self.evaluator, span, 1).as_part_of(ttl);
                part.is_some_and(|(part, whole)| part <= whole && part.saturating_mul(2) >= whole)
            })
        })
    }
}

fn is_time(field: &str) -> bool {
    is_deadline(field) || is_start(field)
}

/// Whether the answer to the question is that the lease is held, when the whole condition is `holds`; `None`
/// where that is not known.
fn says_yes(value: &Value, question: &Rc<HeldQuestion>, holds: bool, depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let rests_on = |part: &Value| part.flows.held.as_ref().is_some_and(|held| Rc::ptr_eq(held, question));
    let Form::Condition(condition) = &value.form else { return own_answer(value, question, holds) };
    let known = |parts: &[Value], holds: bool| {
        let mut parts = parts.iter().filter(|part| rests_on(part));
        parts.find_map(|part| says_yes(part, question, holds, depth))
    };
    match &**condition {
        Condition::All(parts) if parts.iter().any(rests_on) => {
            known(parts, holds).filter(|_| holds || parts.len() == 1)
        }
        Condition::Any(parts) if parts.iter().any(rests_on) => {
            known(parts, holds).filter(|_| !holds || parts.len() == 1)
        }
        Condition::Not(part) if rests_on(part) => says_yes(part, question, !holds, depth),
        Condition::Holds { value, positive } if rests_on(value) => {
            says_yes(value, question, *positive == holds, depth)
        }
        Condition::Equal { equal, left, right } if rests_on(left) => {
            let Form::Bool(yes) = right.form else { return None };
            says_yes(left, question, (*equal == holds) == yes, depth)
        }
        Condition::Order { operator, left, right } if question.asks == Asks::Clock => {
            comes_before(*operator, left, right).map(|before| before == holds)
        }
        Condition::Opaque(_) => None,
        // The whole of it is the answer.
        _ => own_answer(value, question, holds),
    }
}

fn own_answer(value: &Value, question: &HeldQuestion, holds: bool) -> Option<bool> {
    match &question.asks {
        Asks::Name { name, .. } => asks_held(name).map(|held| held == holds),
        // `remaining > 0`.
        Asks::Clock => value.flows.fields.iter().any(|(_, name)| is_deadline(name)).then_some(holds),
    }
}

/// Whether a comparison that holds says that the end of the lease is still to come.
fn comes_before(operator: BinaryOperator, left: &Value, right: &Value) -> Option<bool> {
    let left_is_less = match operator {
        BinaryOperator::Less | BinaryOperator::LessOrEqual => true,
        BinaryOperator::Greater | BinaryOperator::GreaterOrEqual => false,
        _ => return None,
    };
    let (left_side, right_side) = (side(left), side(right));
    match (left_side, right_side) {
        (Side::Now | Side::Age, Side::End | Side::Span) | (Side::Now, Side::Earlier) => Some(left_is_less),
        (Side::End | Side::Span, Side::Now | Side::Age) | (Side::Earlier, Side::Now) => Some(!left_is_less),
        (Side::Remaining, Side::Span) => Some(!left_is_less),
        (Side::Span, Side::Remaining) => Some(left_is_less),
        (Side::Now, Side::Now) => match (left.flows.monotonic, right.flows.monotonic) {
            (Some(one), Some(other)) if one != other => Some(left_is_less == (other < one)),
            _ => None,
        },
        _ => None,
    }
}

/// What one side of a comparison with a clock is.
enum Side {
    /// A reading of a clock, or a moment counted from one.
    Now,
    /// The end of a lease.
    End,
    /// Its start, as a moment.
    Earlier,
    /// The time since it began.
    Age,
    /// The time until it ends.
    Remaining,
    Span,
}

fn side(value: &Value) -> Side {
    let reads = value.flows.monotonic.is_some() || value.flows.wall_clock.is_some();
    let ends = value.flows.fields.iter().any(|(_, name)| is_deadline(name));
    let starts = value.flows.fields.iter().any(|(_, name)| is_start(name));
    match (reads, ends, starts) {
        _ if is_age(value) => Side::Age,
        (true, true, _) => Side::Remaining,
        (true, false, true) => Side::Age,
        (true, false, false) => Side::Now,
        (false, true, _) => Side::End,
        (false, false, true) => Side::Earlier,
        (false, false, false) => Side::Span,
    }
}
