//! Rounds of loops: what a loop does with an operation that it repeats, judged when the function has been
//! evaluated from the pauses and signals that [`super::loops`] has written down.

use std::rc::Rc;

use crate::facts::Location;
use crate::facts::rust::BinaryOperator;

use super::Frame;
use super::loops::{LoopState, Pause, Signal, SignalKind};
use crate::locks::OnFailure;
use crate::resolve::models::Refusal;
use crate::resolve::trace::{GuardList, Operation, Repetition};
use crate::resolve::value::{Condition, Form, Value};

impl Frame<'_, '_> {
    pub(super) fn judge_repetitions(&mut self) {
        if self.loops.is_empty() {
            return;
        }
        let judged: Vec<Option<Repetition>> = self
            .trace
            .operations
            .iter()
            .enumerate()
            .map(|(index, operation)| {
                let number = operation.context.innermost.filter(|_| operation.repetition.is_none())?;
                self.judged(index, operation, number)
            })
            .collect();
        for (operation, repetition) in self.trace.operations.iter_mut().zip(judged) {
            operation.repetition = repetition.or(operation.repetition.take());
        }
    }

    /// What the innermost loop around an operation does with it; a loop that ends with its success only tries
    /// again, so that the loop around it counts.
    fn judged(&self, index: usize, operation: &Operation, number: u32) -> Option<Repetition> {
        let state = &self.loops[number as usize];
        let round = Round { index, number, state, frame: self };
        if round.ends_with_success() {
            return self.judged(index, operation, state.outer?);
        }
        Some(Repetition {
            location: state.location,
            calls: operation.via.len(),
            pause: round.pause(operation),
            on_failure: round.on_failure(operation),
            failures_borne: round.failures_borne(),
            can_be_stopped: state.can_be_stopped || operation.context.stoppable || round.has_a_stop(),
        })
    }

    fn is_inside(&self, mut inner: Option<u32>, outer: u32) -> bool {
        while let Some(number) = inner {
            if number == outer {
                return true;
            }
            inner = self.loops[number as usize].outer;
        }
        false
    }
}

/// An operation and a loop that repeats it.
struct Round<'f, 'e, 'a> {
    index: usize,
    number: u32,
    state: &'f LoopState,
    frame: &'f Frame<'e, 'a>,
}

impl<'f> Round<'f, '_, '_> {
    fn inside(&self) -> impl Iterator<Item = &'f Signal> {
        let (frame, number) = (self.frame, self.number);
        frame.signals.iter().filter(move |signal| frame.is_inside(signal.in_loop, number))
    }

    /// Signals inside that leave the loop.
    fn exits(&self) -> impl Iterator<Item = &'f Signal> {
        let number = self.number;
        self.inside().filter(move |signal| match signal.kind {
            SignalKind::Break => signal.in_loop == Some(number),
            SignalKind::Return => true,
            _ => false,
        })
    }

    /// Whether the operation's reply decides a signal.
    fn decides(&self, signal: &Signal) -> bool {
        signal.decided_by.contains(&self.index)
            || signal.guards.iter().any(|(condition, _)| condition.flows.replies.contains(&self.index))
    }

    /// The answer that is known where a signal is given: `Ok(_)` behind a refused `Ok(1)` is a no.
    fn known(&self, guards: &GuardList) -> Option<bool> {
        let mut answer = None;
        let mut note = |value: &Value, positive: bool| {
            if value.flows.replies.contains(&self.index) {
                answer = Some(positive && answer.unwrap_or(true));
            }
        };
        for (condition, holds) in guards.iter() {
            condition.known_answers(*holds, &mut note);
            // `Ok(done) if done.rows_affected() == 1` was refused.
            if let Form::Condition(inner) = &condition.form
                && let (Condition::All(parts), false) = (&**inner, *holds)
            {
                for part in parts {
                    part.known_answers(true, &mut |value, positive| note(value, !positive));
                }
            }
        }
        answer
    }

    fn follows_failure(&self, signal: &Signal) -> bool {
        self.decides(signal) && self.known(&signal.guards) != Some(true)
    }

    fn ends_with_success(&self) -> bool {
        self.exits().any(|signal| {
            let innermost = signal.guards.guard.as_ref();
            let own = innermost.is_some_and(|(condition, _)| condition.flows.replies.contains(&self.index));
            own && self.known(&signal.guards) == Some(true)
        })
    }

    fn on_failure(&self, operation: &Operation) -> OnFailure {
        let uses = operation.uses;
        if uses.passed {
            return OnFailure::Tells;
        }
        let thrown_away =
            self.inside().any(|s| s.kind == SignalKind::Drop && s.decided_by.contains(&self.index));
        let heard = uses.error_tested && operation.refusal == Refusal::Error;
        if !(uses.tested || uses.compared || uses.returned || heard) || thrown_away {
            return OnFailure::GoesOn;
        }
        let acts = |signal: &Signal| matches!(signal.kind, SignalKind::Act { .. });
        if self.inside().any(|signal| acts(signal) && self.follows_failure(signal)) {
            return OnFailure::Tells;
        }
        if !uses.returned && !self.exits().any(|signal| self.follows_failure(signal)) {
            return OnFailure::GoesOn;
        }
        let behind = self.frame.signals.iter().skip(self.state.end);
        let mut behind =
            behind.filter(|signal| signal.task == self.state.task && signal.in_loop == self.state.outer);
        if behind.any(acts) || self.closes_a_channel() { OnFailure::Tells } else { OnFailure::Ends }
    }

    /// Whether the function holds something whose end others see, and which ends with it.
    fn closes_a_channel(&self) -> bool {
        let function = self.frame.eval.program.functions[self.frame.function].function;
        let is_seen = |name: &str| name.ends_with("Sender") || name.ends_with("DropGuard");
        self.state.task.is_none() && function.params.iter().any(|param| is_seen(param.ty.name()))
    }

    fn failures_borne(&self) -> Option<i128> {
        let following = self.inside().filter(|signal| self.follows_failure(signal));
        let limits = following.filter_map(|signal| {
            let counting = signal.guards.iter().filter(|(c, _)| c.flows.replies.contains(&self.index));
            signal.limit.or_else(|| counting.filter_map(|(condition, _)| failure_limit(condition)).next())
        });
        limits.min()
    }

    /// Whether something other than the replies of operations in the loop ends it.
    fn has_a_stop(&self) -> bool {
        let operations = &self.frame.trace.operations;
        let in_loop = |reply: &usize| {
            operations.get(*reply).is_some_and(|o| self.frame.is_inside(o.context.innermost, self.number))
        };
        self.exits().any(|signal| {
            let innermost = signal.guards.guard.as_ref();
            let decided = innermost.is_some_and(|(condition, _)| condition.flows.replies.iter().any(in_loop));
            match signal.kind {
                SignalKind::Break if !signal.decided_by.is_empty() => !signal.decided_by.iter().any(in_loop),
                _ => !decided && !signal.decided_by.iter().any(in_loop),
            }
        })
    }

    /// The one pause that lies between two rounds; `None` when there are several that differ.
    fn pause(&self, operation: &Operation) -> Option<(Location, Value)> {
        let elsewhere = |pause: &&Pause| match (pause.arm, operation.context.arm) {
            (Some((select, arm)), Some((other, its))) => select == other && arm != its,
            _ => false,
        };
        let on_one_path = |pause: &&Pause| {
            is_around(&pause.guards, &operation.guards)
                || (is_around(&operation.guards, &pause.guards) && self.known(&pause.guards) != Some(false))
        };
        let mut candidates = self.state.pauses.iter().filter(|p| !elsewhere(p)).filter(on_one_path);
        let first = candidates.next()?;
        candidates
            .all(|other| other.location == first.location)
            .then(|| (first.location, first.length.clone()))
    }
}

/// Whether everything that is known under `outer` is known under `inner`.
fn is_around(outer: &Rc<GuardList>, inner: &Rc<GuardList>) -> bool {
    let mut at = Some(inner);
    while let Some(list) = at {
        if Rc::ptr_eq(list, outer) {
            return true;
        }
        at = list.outer.as_ref();
    }
    false
}

/// The number of failures at which a condition such as `failures >= 3` or `failed < 3` changes.
pub(super) fn failure_limit(condition: &Value) -> Option<i128> {
    let Form::Condition(condition) = &condition.form else { return None };
    // How much time is left is no count.
    let is_time = |value: &Value| value.flows.unit.is_some() || value.flows.monotonic.is_some();
    let counts = |left: &Value| !matches!(left.form, Form::Reply(..)) && !is_time(left);
    match &**condition {
        Condition::Order { operator, left, right } if counts(left) => match operator {
            BinaryOperator::LessOrEqual | BinaryOperator::Greater => right.as_int()?.checked_add(1),
            _ => right.as_int(),
        },
        Condition::Equal { equal: true, left, right } if counts(left) => {
            right.as_int().filter(|number| *number > 0)
        }
        Condition::All(parts) | Condition::Any(parts) => parts.iter().find_map(failure_limit),
        Condition::Not(inner) => failure_limit(inner),
        _ => None,
    }
}
