//! Handles of started tasks and threads: where they go, and whether somebody aborts or awaits them. What
//! a task does is followed elsewhere, as if it ran where it is started.

use std::rc::Rc;

use crate::facts::Span;

use super::Frame;
use super::loops::SignalKind;
use crate::resolve::trace::{HandleUse, HandleUseKind, Task, Trace};
use crate::resolve::value::{Form, Symbol, Value};

/// How many uses of a handle in a field are remembered.
const MAX_USES: usize = 16;

impl Frame<'_, '_> {
    /// The handle of a task started here.
    pub(super) fn new_task(&mut self, span: Span) -> Value {
        let location = self.location(span);
        self.trace.tasks.push(Task {
            location,
            exits: self.trace.exits.len(),
            left_by: None,
            uses: Vec::new(),
            returned: false,
            passed: false,
            fields: Vec::new(),
        });
        let mut handle = Value::unknown();
        handle.flows.tasks.insert(self.trace.tasks.len() - 1);
        handle
    }

    pub(super) fn use_handle(&mut self, handle: &Value, kind: HandleUseKind) {
        let field = match &handle.form {
            Form::Symbol(Symbol::Field { owner, name }) => Some((owner.clone(), name.clone())),
            _ => None,
        };
        if handle.flows.tasks.is_empty() && field.is_none() {
            return;
        }
        let told = self.signals.iter().filter(|signal| signal.tells_to_stop() && !self.context.spawned);
        let told = told.map(|signal| signal.position).min();
        // A task that is awaited after it was told to stop shows nothing of how it went.
        let ended = kind == HandleUseKind::Await && told.is_some() && self.context.arm.is_none();
        let kind = if ended { HandleUseKind::AwaitStopped } else { kind };
        let position = told.unwrap_or(self.trace.operations.len());
        let seen = HandleUse { kind, position, arm: self.context.arm };
        for &task in &handle.flows.tasks {
            if let Some(task) = self.trace.tasks.get_mut(task) {
                if task.uses.is_empty() && kind == HandleUseKind::Abort {
                    let between = self.trace.exits.iter().skip(task.exits);
                    task.left_by = between.filter(|exit| exit.in_loop.is_none()).map(|e| e.location).next();
                }
                task.uses.push(seen);
            }
        }
        if let Some(field) = field {
            let known = self.eval.handle_fields.entry(field).or_default();
            if known.len() < MAX_USES {
                known.push((self.function, seen));
            }
        }
    }

    /// A method on a handle; the value is the handle's again.
    pub(super) fn handle_method(&mut self, object: &Value, method: &str) {
        match method {
            "abort" => self.use_handle(object, HandleUseKind::Abort),
            "join" => self.use_handle(object, HandleUseKind::Await),
            "is_finished" => self.use_handle(object, HandleUseKind::Ask),
            _ => {}
        }
    }

    /// The value goes to code that is not followed.
    pub(super) fn pass_handles(&mut self, value: &Value) {
        for &task in &value.flows.tasks {
            if let Some(task) = self.trace.tasks.get_mut(task) {
                task.passed = true;
            }
        }
    }

    pub(super) fn return_handles(&mut self, value: &Value) {
        for &task in &value.flows.tasks {
            if let Some(task) = self.trace.tasks.get_mut(task) {
                task.returned = true;
            }
        }
    }

    pub(super) fn keep_handle(&mut self, ty: &Rc<str>, field: &Rc<str>, value: &Value) {
        for &task in &value.flows.tasks {
            if let Some(task) = self.trace.tasks.get_mut(task) {
                task.fields.push((ty.clone(), field.clone()));
            }
        }
    }

    /// The tasks of a callee, which the caller has started through it.
    pub(super) fn carry_tasks(&mut self, trace: &Trace, operations: usize) {
        let exits = self.trace.exits.len();
        self.trace.tasks.extend(trace.tasks.iter().map(|task| {
            let moved = |seen: &HandleUse| HandleUse { position: seen.position + operations, ..*seen };
            Task { exits, uses: task.uses.iter().map(moved).collect(), returned: false, ..task.clone() }
        }));
    }
}

impl super::loops::Signal {
    fn tells_to_stop(&self) -> bool {
        self.kind == SignalKind::Act { stops: true } && self.task.is_none()
    }
}
