//! Loops: how long they pause between two rounds, what can end them, and what happens in and behind them.
//! Here it is only written down; [`super::rounds`] judges it, and whether an operation in a loop renews a
//! lease is the concern of neither.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::facts::rust::{Expr, ExprKind};
use crate::facts::walk::each_part;
use crate::facts::{Location, Span};

use super::Frame;
use super::rounds::failure_limit;
use crate::resolve::flows::Few;
use crate::resolve::trace::{Exit, GuardList};
use crate::resolve::value::{Form, Value};

/// A loop of the function under evaluation.
#[derive(Debug)]
pub(super) struct LoopState {
    pub(super) location: Location,
    pub(super) outer: Option<u32>,
    pub(super) task: Option<Location>,
    pub(super) pauses: Vec<Pause>,
    pub(super) can_be_stopped: bool,
    /// The first signal behind the loop.
    pub(super) end: usize,
}

#[derive(Debug)]
pub(super) struct Pause {
    pub(super) location: Location,
    pub(super) length: Value,
    pub(super) guards: Rc<GuardList>,
    pub(super) arm: Option<(u32, u32)>,
}

/// Something that ends a loop, or that happens and may tell others.
#[derive(Debug)]
pub(super) struct Signal {
    pub(super) kind: SignalKind,
    pub(super) guards: Rc<GuardList>,
    /// The replies that decide it beside those of the guards.
    pub(super) decided_by: BTreeSet<usize>,
    pub(super) in_loop: Option<u32>,
    /// The call that started the task that it is given in.
    pub(super) task: Option<Location>,
    /// The number of failures that a loop's condition allows.
    pub(super) limit: Option<i128>,
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
}
