//! Loops: how long they pause between two rounds, what can end them, and what they do when an operation
//! that they repeat fails. It writes down what happens in and behind each loop, and judges each repeated
//! operation when the function has been evaluated; whether that operation renews a lease is not its concern.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::facts::rust::{BinaryOperator, Expr, ExprKind};
use crate::facts::walk::each_part;
use crate::facts::{Location, Span};

use super::Frame;
use crate::resolve::flows::Few;
use crate::resolve::trace::{Exit, GuardList, OnFailure, Operation, Repetition};
use crate::resolve::value::{Condition, Form, Value};

/// A loop of the function under evaluation.
#[derive(Debug)]
pub(super) struct LoopState {
    location: Location,
    outer: Option<u32>,
    task: Option<Location>,
    pauses: Vec<Pause>,
    can_be_stopped: bool,
    /// The first signal behind the loop.
    end: usize,
}

#[derive(Debug)]
struct Pause {
    location: Location,
    length: Value,
    guards: Rc<GuardList>,
    arm: Option<(u32, u32)>,
}

/// Something that ends a loop, or that happens and may tell others.
#[derive(Debug)]
pub(super) struct Signal {
    pub(super) kind: SignalKind,
    guards: Rc<GuardList>,
    /// The replies that decide it beside those of the guards.
    decided_by: BTreeSet<usize>,
    in_loop: Option<u32>,
    /// The call that started the task that it is given in.
    pub(super) task: Option<Location>,
    /// The number of failures that a loop's condition allows.
    limit: Option<i128>,
    /// How many operations came before it.
    pub(super) position: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalKind {
    /// `break`, or the loop's condition.
    Break,
    /// `return`, `?`, a panic, the end of the process: what is around the loop ends as well.
    Return,
    /// A call, or a change of something that others see. `stops`: its name is a word to stop.
    Act { stops: bool },
    /// An answer is thrown away.
    Drop,
}

/// How many exits of a function are written down.
const MAX_EXITS: usize = 256;

/// Calls that only tell people something, wait, or prepare the next attempt.
const NO_ACT: &[&str] = &[
    "sleep",
    "sleep_until",
    "tick",
    "reset",
    "elapsed",
    "now",
    "reconnect",
    "backoff",
    "next_backoff",
    "get_connection",
    "get_async_connection",
    "get_multiplexed_async_connection",
    "get",
    "connection",
    "increment",
    "inc",
    "counter",
    "gauge",
    "observe",
    "histogram",
    "instrument",
    "entered",
    "enter",
    "in_scope",
    "to_vec",
    "len",
    "is_empty",
    "format",
    "min",
    "max",
    "pow",
    "saturating_pow",
    "saturating_add",
    "checked_add",
    "wrapping_add",
    "set_missed_tick_behavior",
    "cancelled",
    "changed",
    "recv",
    "is_cancelled",
    "load",
    "duration_since",
    "interval",
    "interval_at",
    "channel",
    "new",
    "default",
    "with_label_values",
    "yield_now",
    "jitter",
    "gen_range",
    "random_range",
];

/// Words of such calls in longer names.
const PREPARING: &[&str] = &[
    "is",
    "has",
    "should",
    "can",
    "backoff",
    "delay",
    "retry",
    "reconnect",
    "wait",
    "log",
    "metric",
    "metrics",
    "interval",
    "elapsed",
    "connection",
];

/// Words to a task to stop.
const STOPS: &[&str] = &[
    "cancel",
    "send",
    "try_send",
    "send_replace",
    "notify",
    "store",
    "abort",
    "stop",
    "shutdown",
    "close",
    "drop",
    "swap",
    "set",
    "trigger",
    "kill",
];

impl Frame<'_, '_> {
    pub(super) fn enter_loop(&mut self, span: Span, is_finite: bool) {
        let number = self.loops.len() as u32;
        self.loops.push(LoopState {
            location: self.location(span),
            outer: self.context.innermost,
            task: self.context.spawned_at,
            pauses: Vec::new(),
            can_be_stopped: is_finite || self.context.arm.is_some() || self.context.stoppable,
            end: usize::MAX,
        });
        self.context.loops += 1;
        self.context.innermost = Some(number);
    }

    pub(super) fn leave_loop(&mut self) {
        self.context.loops -= 1;
        let Some(state) = self.context.innermost.and_then(|number| self.loops.get_mut(number as usize))
        else {
            return;
        };
        state.end = self.signals.len();
        self.context.innermost = state.outer;
    }

    /// The condition of a `while` ends the loop when it no longer holds.
    pub(super) fn loop_condition(&mut self, written: &Expr, condition: &Value) {
        if matches!(condition.form, Form::Bool(true)) {
            return;
        }
        let condition = self.with_counted(written, condition.clone());
        self.signal(SignalKind::Break, condition.flows.replies.iter().copied());
        if let Some(signal) = self.signals.last_mut() {
            signal.limit = failure_limit(&condition);
        }
    }

    pub(super) fn signal(&mut self, kind: SignalKind, decided_by: impl IntoIterator<Item = usize>) {
        // Outside of loops and before the first one, nothing asks for it.
        if self.loops.is_empty() && !matches!(kind, SignalKind::Act { stops: true }) {
            return;
        }
        self.signals.push(Signal {
            kind,
            guards: self.guards.clone(),
            decided_by: decided_by.into_iter().collect(),
            in_loop: self.context.innermost,
            task: self.context.spawned_at,
            limit: None,
            position: self.trace.operations.len(),
        });
    }

    /// An exit from the loop, and from the function unless it stands in a block of its own.
    pub(super) fn exit(&mut self, span: Span, replies: &Few<usize>) {
        self.signal(SignalKind::Return, replies.iter().copied());
        if self.blocks == 0 && self.trace.exits.len() < MAX_EXITS {
            self.trace.exits.push(Exit {
                location: self.location(span),
                guards: self.guards.clone(),
                replies: replies.iter().copied().collect(),
                position: self.trace.operations.len(),
                in_loop: None,
            });
        }
    }

    /// `break` and `continue`.
    pub(super) fn leave_round(&mut self, span: Span, ends_loop: bool) {
        if ends_loop {
            self.signal(SignalKind::Break, []);
        }
        if self.trace.exits.len() < MAX_EXITS && self.context.innermost.is_some() {
            self.trace.exits.push(Exit {
                location: self.location(span),
                guards: self.guards.clone(),
                replies: BTreeSet::new(),
                position: self.trace.operations.len(),
                in_loop: self.context.innermost,
            });
        }
    }

    /// A call of this name that does nothing to a store.
    pub(super) fn act(&mut self, name: &str) {
        // A variant of an enum is no call.
        let makes_value = name.chars().next().is_some_and(char::is_uppercase);
        let prepares = |word: &str| PREPARING.contains(&word);
        if makes_value
            || NO_ACT.contains(&name)
            || super::call::TELLING.contains(&name)
            || name.split('_').any(prepares)
        {
            return;
        }
        let stops = name.split('_').any(|word| STOPS.contains(&word)) || STOPS.contains(&name);
        self.signal(SignalKind::Act { stops }, []);
    }

    pub(super) fn pause(&mut self, span: Span, length: &Value) {
        let location = self.location(span);
        self.pause_at(location, length);
    }

    pub(super) fn pause_at(&mut self, location: Location, length: &Value) {
        let Some(number) = self.context.innermost else { return };
        let pause =
            Pause { location, length: length.clone(), guards: self.guards.clone(), arm: self.context.arm };
        self.loops[number as usize].pauses.push(pause);
    }

    /// A variable set where the replies of operations decide whether it is.
    pub(super) fn decide(&mut self, name: &str, value: &Value) {
        if self.context.innermost.is_none() {
            return;
        }
        let guarding = self.guards.iter().flat_map(|(condition, _)| condition.flows.replies.iter().copied());
        let replies: BTreeSet<usize> = guarding.chain(value.flows.replies.iter().copied()).collect();
        if !replies.is_empty() {
            self.decided.entry(name.into()).or_default().extend(replies);
        }
    }

    /// The replies that decided the counters and flags which an expression names.
    pub(super) fn counted(&self, written: &Expr) -> BTreeSet<usize> {
        let mut replies = BTreeSet::new();
        if self.decided.is_empty() {
            return replies;
        }
        each_part(written, &mut |part| {
            if let ExprKind::Path(path) = &part.kind
                && let [name] = path.as_slice()
                && let Some(known) = self.decided.get(name.as_str())
            {
                replies.extend(known);
            }
        });
        replies
    }

    /// Adds to a condition on counters and flags the replies that decided them.
    pub(super) fn with_counted(&self, written: &Expr, condition: Value) -> Value {
        let replies = self.counted(written);
        if replies.is_empty() {
            return condition;
        }
        let mut condition = condition.as_condition();
        replies.into_iter().for_each(|reply| condition.flows.replies.insert(reply));
        condition
    }

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
        if !(uses.tested || uses.compared || uses.returned) || thrown_away {
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
fn failure_limit(condition: &Value) -> Option<i128> {
    let Form::Condition(condition) = &condition.form else { return None };
    let counts = |left: &Value| !matches!(left.form, Form::Reply(..));
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
