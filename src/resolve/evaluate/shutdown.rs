//! The end of the process: waits for the signals that ask for it, handlers of them, and the calls that end it
//! on the spot. Which functions and names these are is in the client models; what a lock has to do with any
//! of it is not asked here.

use std::rc::Rc;

use crate::facts::{Location, Span};

use super::Frame;
use super::loops::SignalKind;
use crate::resolve::flows::Few;
use crate::resolve::trace::{Action, SignalWait, Trace};
use crate::resolve::value::Value;

/// Words in the names of methods that wait for others to end.
const WAITING: &[&str] = &["wait", "join", "recv", "shutdown", "stop", "close", "drain", "block", "finish"];

/// How many waits of a function are written down.
const MAX_WAITS: usize = 64;

impl Frame<'_, '_> {
    /// What is at a path, which may name such a signal or a function that waits for one.
    pub(super) fn with_signal(&self, path: &[String], mut value: Value) -> Value {
        if value.flows.signal.is_none() && self.eval.models.signals.awaits(path) {
            value.flows.signal = Some(self.named_here());
        }
        value
    }

    /// A signal is named by a path, which has no place of its own in the facts: the function stands for it.
    fn named_here(&self) -> Location {
        self.location(self.eval.program.functions[self.function].function.name_span)
    }

    /// The flow waits for what `awaited` is made of; where that is a signal, it goes on behind it.
    pub(super) fn hear(&mut self, awaited: &Value) {
        let Some(signal) = awaited.flows.signal else { return };
        self.context.after_signal = true;
        if !self.context.spawned && self.trace.waits.len() < MAX_WAITS {
            let position = self.trace.operations.len();
            self.trace.waits.push(SignalWait { signal, position, arm: self.context.arm });
        }
    }

    /// The flow waits for this; behind a signal that may be for its tasks to end.
    pub(super) fn note_other_wait(&mut self, awaited: &Value) {
        let is_behind = self.context.after_signal && !self.context.spawned;
        self.trace.waits_for_others |= is_behind && awaited.flows.signal.is_none();
    }

    /// Methods that wait without an `.await`, or may.
    pub(super) fn note_waiting_method(&mut self, method: &str, object: &Value) {
        if method.split('_').any(|word| WAITING.contains(&word)) {
            self.note_other_wait(object);
        }
    }

    /// Runs the body of a future that nobody waits for yet; with it comes the signal that it waits for.
    pub(super) fn until_awaited(
        &mut self,
        work: impl FnOnce(&mut Self) -> Value,
    ) -> (Value, Option<Location>) {
        let before = self.context.after_signal;
        let waits = self.trace.waits.len();
        let value = work(self);
        self.context.after_signal = before;
        let heard = self.trace.waits.get(waits).map(|wait| wait.signal);
        self.trace.waits.truncate(waits);
        (value, heard)
    }

    /// Runs what a signal handler does: beside everything else, and behind the signal.
    pub(super) fn in_handler<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.context;
        self.context.spawned = true;
        self.context.spawned_at = Some(self.location(span));
        self.context.after_signal = true;
        let value = work(self);
        self.context = before;
        value
    }

    /// A call of a function that waits for a signal: an async one does so when its result is awaited.
    pub(super) fn carry_wait(&mut self, trace: &Trace, is_async: bool, result: &mut Value) {
        self.trace.waits_for_others |= trace.waits_for_others && !self.context.spawned;
        let Some(wait) = trace.waits.first() else { return };
        if is_async {
            result.flows.signal = Some(wait.signal);
        } else {
            let mut heard = Value::unknown();
            heard.flows.signal = Some(wait.signal);
            self.hear(&heard);
        }
    }

    /// The process ends here: no destructor runs, and what guards hold is kept.
    pub(super) fn end_process(&mut self, span: Span) {
        let told = self.signals.iter().any(|signal| {
            signal.kind == SignalKind::Act { stops: true } && signal.task == self.context.spawned_at
        });
        let kept = Value::made_of(self.live_guards());
        let location = self.location(span);
        self.emit_at(location, Action::Exit { told }, Value::unknown(), Some(kept), None);
        // It ends the loops around it, and whoever works beside them.
        self.signal(SignalKind::Return, []);
        self.signal(SignalKind::Act { stops: false }, []);
        self.diverged = true;
    }

    /// The variables in scope whose types do something when they are dropped.
    fn live_guards(&self) -> impl Iterator<Item = &Value> {
        let named = self.guard_names.iter();
        let locals = named.flat_map(|name| self.scopes.iter().filter_map(move |scope| scope.get(name)));
        locals.filter(|value| self.is_held_reply(value))
    }

    /// The replies in these, which are held as long as they live.
    pub(super) fn kept_replies(&self) -> Few<usize> {
        self.live_guards().flat_map(|guard| guard.flows.replies.iter().copied()).collect()
    }

    pub(super) fn note_guard(&mut self, name: &str, value: &Value) {
        if self.is_held_reply(value) {
            self.guard_names.insert(name.into());
        }
    }

    fn is_held_reply(&self, value: &Value) -> bool {
        !value.flows.replies.is_empty() && self.is_guard(value)
    }

    fn is_guard(&self, value: &Value) -> bool {
        let program = self.eval.program;
        value.ty.as_ref().is_some_and(|ty| {
            let drops = program.methods(self.scope, ty, "drop");
            drops.iter().any(|&at| program.functions[at].function.implements.as_deref() == Some("Drop"))
        })
    }

    /// `drop(guard)`: the variable is gone.
    pub(super) fn forget(&mut self, dropped: &Value) {
        if !self.is_guard(dropped) {
            return;
        }
        for scope in &mut self.scopes {
            let same = |value: &Value| value.flows == dropped.flows && value.ty == dropped.ty;
            if scope.values().any(same) {
                Rc::make_mut(scope).retain(|_, value| !same(value));
            }
        }
    }
}
