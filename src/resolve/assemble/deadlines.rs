//! Local deadlines of leases that are counted from behind the reply of the acquire or renewal which they
//! belong to.

use std::collections::BTreeMap;

use crate::facts::Location;
use crate::locks::{Action, Key, LateDeadline, Lifetime, Operation, Sequence, Share, Ttl};

use super::super::evaluate::Evaluator;
use super::super::trace::{Deadline, DeadlineLength, Trace};
use super::super::value::Value;
use super::keys::field_values;
use super::lifetimes::lifetime;

/// Every such deadline, once.
pub fn late_deadlines(evaluator: &Evaluator<'_>, keys: &[Key], sequences: &[Sequence]) -> Vec<LateDeadline> {
    let mut found: BTreeMap<Location, LateDeadline> = BTreeMap::new();
    for sequence in sequences {
        let Some(trace) = evaluator.trace(sequence.number) else { continue };
        for deadline in &trace.deadlines {
            let lease = Lease { evaluator, keys, sequence, trace: &trace };
            if let Some(late) = lease.late(deadline) {
                found.entry(late.location).or_insert(late);
            }
        }
    }
    found.into_values().collect()
}

struct Lease<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    keys: &'s [Key],
    sequence: &'s Sequence,
    trace: &'s Trace,
}

impl Lease<'_, '_> {
    /// The deadline, when it is as long as the lease that was given last before its clock was read.
    fn late(&self, deadline: &Deadline) -> Option<LateDeadline> {
        let given = self.sequence.operations.iter().filter(|operation| {
            operation.step < deadline.from.position
                && self.keys[operation.key].is_lock()
                && operation.spawned_at == deadline.spawned_at
                && ttl_given(&operation.action).is_some()
        });
        let last = given.max_by_key(|operation| operation.step)?;
        let ttl = ttl_given(&last.action)?;
        let is_of_lease = match &deadline.length {
            DeadlineLength::Span(span) => self.is_as_long(span, ttl),
            DeadlineLength::OfField(field) => {
                let spans = self.evaluator.aged_fields.get(field);
                spans.is_some_and(|spans| spans.iter().any(|span| self.is_as_long(span, ttl)))
            }
        };
        (is_of_lease && !self.is_refused(last, deadline)).then(|| LateDeadline {
            location: deadline.from.location,
            request: last.place(),
            lock: self.keys[last.key].name.clone(),
            is_renewal: !last.action.is_acquire(),
            is_test: last.is_test,
        })
    }

    fn is_as_long(&self, span: &Value, ttl: &Lifetime) -> bool {
        let kept = field_values(self.evaluator, span).unwrap_or_default();
        std::iter::once(span).chain(kept).any(|span| {
            let length = lifetime(self.evaluator, span, 1);
            // Named spans may be the same by name and differ in value.
            match (length.millis, ttl.millis) {
                (Some(length), Some(ttl)) => length == ttl,
                _ => is_same(length.share.as_ref(), ttl.share.as_ref()),
            }
        })
    }

    /// Whoever was refused the lease counts until it may be free.
    fn is_refused(&self, given: &Operation, deadline: &Deadline) -> bool {
        deadline.guards.iter().any(|(condition, holds)| {
            let mut is_sure = !condition.flows.replies.contains(&given.step);
            condition.known_answers(*holds, &mut |value, positive| {
                is_sure |= positive && value.flows.replies.contains(&given.step);
            });
            !is_sure && self.trace.operations.get(given.step).is_some()
        })
    }
}

fn ttl_given(action: &Action) -> Option<&Lifetime> {
    match action {
        Action::Acquire { ttl: Ttl::Given(ttl), .. }
        | Action::Expire { ttl: Ttl::Given(ttl), .. }
        | Action::Overwrite { ttl: Ttl::Given(ttl), only_if_present: true, .. } => Some(ttl),
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
