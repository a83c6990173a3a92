//! Questions whether a lease is still held that a process asks itself: by a method, a function or a field whose
//! name says so, or by comparing a clock. The answer carries the question to whatever it decides; whether the
//! thing that is asked is a lease is not asked here.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::{Expr, ExprKind};
use crate::locks::vocabulary::asks_held;

use super::Frame;
use super::deadline::is_age;
use crate::resolve::value::{Asks, Form, HeldQuestion, Value};

impl Frame<'_, '_> {
    pub(super) fn asks_by_name(
        &self,
        span: Span,
        name: &str,
        asked: Option<&Value>,
    ) -> Option<Rc<HeldQuestion>> {
        asks_held(name)?;
        let ty = asked.and_then(|asked| asked.ty.as_ref());
        let of = ty.map(|ty| self.eval.program.peeled(self.scope, ty).name().into());
        let asks = Asks::Name { name: name.into(), of: of.unwrap_or_else(|| "".into()) };
        Some(Rc::new(HeldQuestion { location: self.location(span), asks }))
    }

    pub(super) fn asks_clock(&self, span: Span, left: &Value, right: &Value) -> Option<Rc<HeldQuestion>> {
        let reads = |value: &Value| value.flows.monotonic.is_some() || value.flows.wall_clock.is_some();
        let asks = reads(left) || reads(right) || is_age(left) || is_age(right);
        asks.then(|| Rc::new(HeldQuestion { location: self.location(span), asks: Asks::Clock }))
    }

    /// `lease.ensure_held()?`: whoever goes on has been told yes.
    pub(super) fn heard_answer(&mut self, asked: &Expr, answer: &Value) {
        let mut asked = asked;
        while let ExprKind::Await(inner) = &asked.kind {
            asked = inner;
        }
        let here = self.location(asked.span);
        let is_answer = answer.flows.held.as_ref().is_some_and(|question| question.location == here);
        if is_answer && !matches!(answer.form, Form::Condition(_)) {
            self.assume(answer, true);
        }
    }
}

impl Value {
    /// The answer to a question. Of two, the one that was asked last says more: it is nearer to what it decides.
    #[must_use]
    pub(super) fn asking(mut self, question: Option<Rc<HeldQuestion>>) -> Self {
        if question.is_some() && !self.is_builder() {
            self.flows.held = question;
        }
        self
    }
}
