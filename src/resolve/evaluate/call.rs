//! Calls: of builders, of client methods, of the standard library, of the workspace's own functions, in
//! this order of knowledge.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::{Expr, ExprKind, Type, TypeForm};
use crate::facts::walk::each_part;

use super::{Frame, MAX_NESTING};
use crate::resolve::value::{Closure, Form, Piece, Value};

/// Macros and methods that only tell people something.
pub(super) const TELLING: &[&str] =
    &["log", "trace", "debug", "info", "warn", "error", "event", "print", "println", "record"];

/// Functions and methods that start a task or thread.
const STARTING: &[&str] = &["spawn", "spawn_blocking", "spawn_local", "spawn_on"];

/// Methods that put an async block beside others, to be awaited later.
const COLLECTING: &[&str] = &["push", "push_back", "insert", "extend"];

/// Words in the names of functions that can end a future that they are given.
const ENDING: &[&str] =
    &["cancelled", "cancel", "abortable", "until", "timeout", "race", "shutdown", "graceful"];

/// Method names too common to be taken for the workspace's own without a known receiver.
const COMMON: &[&str] = &[
    "get", "set", "insert", "remove", "push", "pop", "len", "next", "send", "recv", "new", "build", "run",
    "start", "stop", "close", "open", "read", "write", "flush", "name", "key", "id", "value", "clone",
    "clear", "contains", "find", "filter", "map", "update", "delete", "create", "load", "save", "add",
    "with", "into", "from", "path",
];

/// `Deref` is followed so many times.
const MAX_DEREFS: usize = 4;

impl Frame<'_, '_> {
    pub(super) fn call(&mut self, span: Span, callee: &Expr, args: &[Expr]) -> Value {
        let ExprKind::Path(path) = &callee.kind else {
            let callee = self.expr(callee);
            let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
            return self.call_value(span, &callee, &args);
        };
        if let [name] = path.as_slice()
            && let Some(value) = self.local(name).cloned()
        {
            let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
            return self.call_value(span, &value, &args);
        }
        let name = path.last().map_or("", String::as_str);
        let values = self.arguments(span, name, args);
        let before = self.context.in_transaction;
        self.context.in_transaction |= opens_transaction(name);
        let asks = self.asks_by_name(span, name, values.first());
        let value = self.call_path(span, path, values).asking(asks);
        self.context.in_transaction = before;
        value
    }

    fn call_path(&mut self, span: Span, path: &[String], values: Vec<Value>) -> Value {
        if let Some(part) = self.chain_call(span, path, &values) {
            return part;
        }
        let full = self.eval.program.full_path(self.scope.module, path);
        if let Some(value) = self.client_call(span, &full, &values) {
            return value;
        }
        let functions = self.eval.program.functions_at(self.scope, path, self.owner);
        if let Some(&function) = functions.first() {
            let has_self = self.eval.program.functions[function].function.has_self;
            let (receiver, values) = match values.split_first() {
                Some((first, rest)) if has_self => (Some(first.clone()), rest.to_vec()),
                _ => (None, values),
            };
            return self.dispatched(span, &functions, &values, receiver);
        }
        if let Some(value) = self.builtin_call(span, &full, &values) {
            return value;
        }
        self.unknown_call(span, &full, &values)
    }

    /// The arguments of a call; an async block handed to one that starts a task runs in that task, and one
    /// handed to `run_until_cancelled` and its like may be ended by it.
    fn arguments(&mut self, span: Span, callee: &str, args: &[Expr]) -> Vec<Value> {
        let before = self.context;
        let starts = STARTING.contains(&callee);
        if starts {
            let task = self.location(span);
            self.context.spawned = true;
            self.context.spawned_at = Some(task);
            if args.iter().any(|arg| self.takes_sender(arg)) {
                self.closing_tasks.insert(task);
            }
        }
        self.context.stoppable |= callee.split('_').any(|word| ENDING.contains(&word));
        self.context.put_aside |= COLLECTING.contains(&callee);
        let values = args.iter().map(|arg| self.expr(arg)).collect();
        if starts {
            self.context = before;
        }
        self.context.stoppable = before.stoppable;
        self.context.put_aside = before.put_aside;
        values
    }

    /// Whether what a task runs holds the end of a channel whose other end sees it go.
    fn takes_sender(&self, work: &Expr) -> bool {
        let mut takes = false;
        each_part(work, &mut |part| {
            if let ExprKind::Path(path) = &part.kind
                && let [name] = path.as_slice()
            {
                let ty = self.local(name).and_then(|value| value.ty.as_ref());
                takes |= ty.is_some_and(|ty| is_seen_to_end(ty.name()));
            }
        });
        takes
    }

    /// A call of something that is not followed: closures run, and its result is made of its arguments.
    fn unknown_call(&mut self, span: Span, path: &[String], args: &[Value]) -> Value {
        for arg in args {
            self.mark(arg, |uses| uses.passed = true);
            self.pass_handles(arg);
        }
        self.act(path.last().map_or("call", String::as_str));
        if let Some(statement) = super::handed_on::wrapped(path, args) {
            return statement;
        }
        if let Some(made) = self.tuple_struct(span, path, args) {
            return made;
        }
        if let Some(ends) = channel_ends(path) {
            return ends;
        }
        let inner = if self.eval.models.signals.handles(path) {
            self.in_handler(span, |frame| frame.run_closures(span, args))
        } else {
            self.run_closures(span, args)
        };
        let mut value = Value::made_of(args.iter().chain(&inner));
        value.ty = constructed(path);
        let value = value.named(path.last().map_or("", String::as_str)).with_arguments(args);
        self.with_signal(path, value)
    }

    fn call_value(&mut self, span: Span, callee: &Value, args: &[Value]) -> Value {
        match &callee.form {
            Form::Closure(closure) => {
                let closure = closure.clone();
                self.run_closure(&closure, args)
            }
            Form::Function(function) => self.instantiate(span, *function, args, None),
            _ => {
                self.mark(callee, |uses| uses.tested = true);
                let made = self.unknown_call(span, &[], args);
                self.run_param(callee, args).unwrap_or(made)
            }
        }
    }

    pub(super) fn run_closure(&mut self, closure: &Rc<Closure>, args: &[Value]) -> Value {
        if self.nesting >= MAX_NESTING || closure.file != self.file {
            return Value::made_of(args);
        }
        self.nesting += 1;
        self.blocks += 1;
        let results = std::mem::take(&mut self.results);
        let guards = self.guards.clone();
        let value = self.scoped(|frame| {
            for (index, param) in closure.params.iter().enumerate() {
                let arg = args.get(index).cloned().unwrap_or_default();
                let ty = (param.ty.kind != TypeForm::Other).then(|| Rc::new(param.ty.clone()));
                frame.bind(&param.pattern, arg.with_type(ty));
            }
            let value = frame.expr(&closure.body);
            frame.awaited(value)
        });
        let own = std::mem::replace(&mut self.results, results);
        self.guards = guards;
        self.diverged = false;
        self.blocks -= 1;
        self.nesting -= 1;
        own.iter().fold(value, |all, result| Value::either(&all, result))
    }

    /// Closures and functions handed to code that is not followed are taken to run there.
    fn run_closures(&mut self, span: Span, args: &[Value]) -> Vec<Value> {
        let mut results = Vec::new();
        for arg in args {
            match &arg.form {
                Form::Closure(closure) => {
                    let closure = closure.clone();
                    results.push(self.run_closure(&closure, &[]));
                }
                Form::Function(function) => results.push(self.instantiate(span, *function, &[], None)),
                _ if super::handed_closures::is_callable(arg) => results.extend(self.run_param(arg, &[])),
                _ => {}
            }
        }
        results
    }

    pub(super) fn method_call(&mut self, expr: &Expr) -> Value {
        let ExprKind::MethodCall { receiver, method, method_span, args, .. } = &expr.kind else {
            return Value::unknown();
        };
        let object = self.expr(receiver);
        if self.diverged {
            return object;
        }
        let object = self.dereferenced(&object, method).unwrap_or(object);
        let values = self.arguments(expr.span, method, args);
        let span = Span::new(method_span.start, expr.span.end);
        let asks = self.asks_by_name(expr.span, method, Some(&object));
        let value = self.method_value(expr.span, span, &object, method, &values, args).asking(asks);
        if value.is_builder() || (object.is_builder() && value.is_builder()) || is_text_edit(method, &object)
        {
            self.store_builder(receiver, &value);
        }
        if is_text_edit(method, &object) { Value::unknown() } else { value }
    }

    fn method_value(
        &mut self,
        whole: Span,
        span: Span,
        object: &Value,
        method: &str,
        values: &[Value],
        written: &[Expr],
    ) -> Value {
        self.handle_method(object, method);
        if matches!(method, "wait" | "forever") {
            self.hear(object);
        }
        self.note_waiting_method(method, object);
        if let Some(value) = self.prepared_statement(whole, object, method, values, written) {
            return value;
        }
        if let Some(value) = self.builder_method(whole, span, object, method, values) {
            return value;
        }
        if let Some(value) = self.chain_method(whole, span, object, method, values) {
            return value;
        }
        if method == "build"
            && let Some(statement) = values.first().filter(|value| value.is_statement_chain())
        {
            return statement.clone();
        }
        if let Some(text) = self.written_to_formatter(object, method, values) {
            return text;
        }
        if method == "to_string"
            && let Some(text) = self.displayed(object)
        {
            return text;
        }
        let functions = self.own_methods(object, method);
        if !functions.is_empty() {
            return self.dispatched(whole, &functions, values, Some(object.clone()));
        }
        if let Some(value) = self.request_of_client(object, method, values) {
            return value;
        }
        if let Some(value) = self.answer_method(object, method) {
            return value;
        }
        if let Some(value) = self.client_method(whole, span, object, method, values, written) {
            return value;
        }
        if let Some(value) = self.builtin_method(whole, object, method, values) {
            return value;
        }
        if matches!(method, "spawn" | "spawn_blocking" | "spawn_local") {
            let handle = self.spawned(whole, values);
            // A set of tasks keeps the handle.
            self.pass_handles(&handle);
            return handle;
        }
        if !COMMON.contains(&method)
            && object.ty.as_ref().is_none_or(|ty| ty.kind == TypeForm::Other)
            && let Some(function) = self.eval.program.only_method(self.scope.unit, method, values.len())
        {
            return self.instantiate(whole, function, values, Some(object.clone()));
        }
        if !TELLING.contains(&method) {
            values.iter().for_each(|value| self.mark(value, |uses| uses.passed = true));
        }
        values.iter().for_each(|value| self.pass_handles(value));
        self.act(method);
        if !COMMON.contains(&method) && !self.context.in_drop {
            self.eval.calls_by_name.insert(method.to_owned());
        }
        let before = self.context;
        self.context.in_transaction |= opens_transaction(method);
        let inner = self.run_closures(whole, values);
        self.context = before;
        let mut value = Value::made_of(std::iter::once(object).chain(values).chain(&inner));
        if let Form::Text(_) = object.form
            && values.is_empty()
        {
            // `.to_uppercase()`, `.trim_end()`: still the same template for our purposes.
            value.form = object.form.clone();
        }
        // A getter names what it gives; a call with arguments is a computation.
        if values.is_empty() && !COMMON.contains(&method) { value.named(method) } else { value }
    }

    /// The workspace's own methods for a receiver of known type.
    fn own_methods(&self, object: &Value, method: &str) -> Vec<usize> {
        let Some(ty) = &object.ty else { return Vec::new() };
        self.eval.program.methods(self.scope, ty, method)
    }

    /// What `Deref` makes of a receiver that has no such method of its own.
    fn dereferenced(&mut self, object: &Value, method: &str) -> Option<Value> {
        let mut object = object.clone();
        for steps in 0..MAX_DEREFS {
            let Some(ty) = object.ty.clone() else { return (steps > 0).then_some(object) };
            if !self.eval.program.methods(self.scope, &ty, method).is_empty() {
                return (steps > 0).then_some(object);
            }
            match self.eval.program.deref_field(self.scope, &ty) {
                Some(field) => object = self.field(&object, field),
                None => return (steps > 0).then_some(object),
            }
        }
        None
    }

    pub(super) fn note_call(&mut self, function: usize) {
        let calls = self.eval.calls.entry(self.function).or_default();
        if !calls.contains(&function) {
            calls.push(function);
        }
    }

    /// Puts a changed builder back into the variable or field that the call chain starts from.
    pub(super) fn store_builder(&mut self, receiver: &Expr, value: &Value) {
        let mut at = receiver;
        loop {
            match &at.kind {
                ExprKind::Path(path) if path.len() == 1 && path[0] != "self" => {
                    if self.local(&path[0]).is_some() {
                        self.assign_local(&path[0], value.clone());
                    }
                    return;
                }
                ExprKind::Borrow(inner) => at = inner,
                ExprKind::MethodCall { receiver, .. } => at = receiver,
                _ => return,
            }
        }
    }
}

/// Whether a function, by its name, runs the closure that it is given in a transaction.
fn opens_transaction(name: &str) -> bool {
    name.contains("transaction")
}

fn is_text_edit(method: &str, object: &Value) -> bool {
    matches!(method, "push_str" | "push") && matches!(&object.form, Form::Text(pieces) if is_plain(pieces))
}

fn is_plain(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Text { .. })) || pieces.is_empty()
}

/// `Type::new(…)` makes a `Type`, when nothing better is known.
fn constructed(path: &[String]) -> Option<Rc<Type>> {
    let at = path.len().checked_sub(2)?;
    let ty = &path[at];
    let is_type = ty.chars().next().is_some_and(char::is_uppercase);
    is_type.then(|| Rc::new(Type { kind: TypeForm::Path, path: path[..=at].to_vec(), args: Vec::new() }))
}

/// The two ends that `mpsc::channel()` and its like give.
fn channel_ends(path: &[String]) -> Option<Value> {
    const MAKING: &[&str] =
        &["channel", "sync_channel", "unbounded_channel", "unbounded", "bounded", "rendezvous"];
    if !MAKING.contains(&path.last()?.as_str()) {
        return None;
    }
    let ends = ["Sender", "Receiver"].map(|name| {
        let ty = Type { kind: TypeForm::Path, path: vec![name.to_owned()], args: Vec::new() };
        Value::unknown().with_type(Some(Rc::new(ty)))
    });
    Some(Value::new(Form::Tuple(ends.into())))
}

/// Types whose end others see.
pub(super) fn is_seen_to_end(ty: &str) -> bool {
    ty.ends_with("Sender") || ty.ends_with("DropGuard")
}
