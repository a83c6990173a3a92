//! Spans of time that are counted from a reading of a monotonic clock: deadlines, ages, remaining times. When
//! the clock was read is written down as well: before or behind which operations. Whether a span is that of a
//! lease is not asked here.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::BinaryOperator;

use super::Frame;
use crate::resolve::trace::{Deadline, DeadlineLength, MAX_OPERATIONS};
use crate::resolve::value::{Form, Moment, Symbol, Value};

/// How many spans are remembered that the age of one field is compared with.
const MAX_SPANS: usize = 8;

impl Frame<'_, '_> {
    /// `Instant::now()`.
    pub(super) fn moment(&self, span: Span) -> Value {
        let mut value = Value::unknown();
        let position = self.trace.operations.len();
        value.flows.monotonic = Some(Moment { position, location: self.location(span) });
        value
    }

    /// `now + ttl` is a deadline, and so is `ttl - started.elapsed()` with a moment on the other side;
    /// `now + ttl - margin` is one with a margin.
    pub(super) fn note_sum(&mut self, operator: BinaryOperator, left: &Value, right: &Value) {
        match (operator, left.flows.monotonic, right.flows.monotonic) {
            (BinaryOperator::Add, Some(from), None) => self.note_deadline(from, right),
            (BinaryOperator::Add, None, Some(from)) => self.note_deadline(from, left),
            (BinaryOperator::Subtract, None, Some(from)) => self.note_deadline(from, left),
            (BinaryOperator::Subtract, Some(from), None) => {
                let shortened = self.trace.deadlines.iter_mut().filter(|deadline| deadline.from == from);
                shortened.for_each(|deadline| deadline.has_margin = true);
            }
            _ => {}
        }
    }

    /// The same, by methods.
    pub(super) fn note_span(&mut self, method: &str, receiver: &Value, other: Option<&Value>) {
        let operator = match method {
            "checked_add" => BinaryOperator::Add,
            "checked_sub" | "saturating_sub" => BinaryOperator::Subtract,
            _ => return,
        };
        if let Some(other) = other {
            self.note_sum(operator, receiver, other);
        }
    }

    /// The age of a moment, or of a field that holds one, compared with a span.
    pub(super) fn note_age(&mut self, left: &Value, right: &Value) {
        for (age, span) in [(left, right), (right, left)] {
            if span.flows.monotonic.is_some() {
                continue;
            }
            if let Some(from) = age.flows.monotonic {
                self.note_deadline(from, span);
            } else if is_age(age) {
                for field in age.flows.fields.iter() {
                    let known = self.eval.aged_fields.entry(field.clone()).or_default();
                    if known.len() < MAX_SPANS {
                        known.push(span.clone());
                    }
                }
            }
        }
    }

    fn note_deadline(&mut self, from: Moment, span: &Value) {
        self.push_deadline(from, DeadlineLength::Span(Box::new(span.clone())));
    }

    /// A moment kept in a field.
    pub(super) fn note_start(&mut self, ty: &Rc<str>, field: &Rc<str>, value: &Value) {
        let is_bare = matches!(value.form, Form::Unknown);
        if let (Some(from), true) = (value.flows.monotonic, is_bare) {
            self.push_deadline(from, DeadlineLength::OfField((ty.clone(), field.clone())));
        }
    }

    fn push_deadline(&mut self, from: Moment, length: DeadlineLength) {
        if self.trace.deadlines.len() < MAX_OPERATIONS {
            let (guards, spawned_at) = (self.guards.clone(), self.context.spawned_at);
            self.trace.deadlines.push(Deadline { from, length, has_margin: false, guards, spawned_at });
        }
    }
}

/// `started.elapsed()`.
pub(in crate::resolve) fn is_age(value: &Value) -> bool {
    matches!(&value.form, Form::Symbol(Symbol::Local(name)) if &**name == "elapsed")
}
