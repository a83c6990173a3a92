//! Operations on stores: client methods by model, constructors of builders, and the emission itself.

use std::rc::Rc;

use crate::facts::rust::{Expr, Type, TypeForm};
use crate::facts::{Location, Span};

use super::Frame;
use super::std_types::is_std_type;
use crate::resolve::models::{ActionName, Command, Libraries, Refusal, Unit};
use crate::resolve::trace::{Action, MergeCall, Operation, ScriptCall, Uses};
use crate::resolve::value::{Expiry, Form, Layer, ScriptBuilder, SetOptions, Symbol, Value, WriteCondition};

impl Frame<'_, '_> {
    /// Writes an operation down; the value is its reply.
    pub(super) fn emit_at(
        &mut self,
        location: Location,
        action: Action,
        key: Value,
        value: Option<Value>,
        pipeline: Option<usize>,
    ) -> Value {
        let index = self.trace.operations.len();
        let named_at = is_shown(&action, &key).then_some(0);
        self.trace.operations.push(Operation {
            action,
            key,
            value,
            location,
            via: Vec::new(),
            function: self.function,
            guards: self.guards.clone(),
            pipeline,
            context: self.context,
            uses: Uses::default(),
            session: None,
            named_at,
            expiry_from_caller: false,
            repetition: None,
            is_lock: false,
            refusal: Refusal::Answer,
            advice: None,
            kept: self.kept_replies(),
        });
        Value::new(Form::Reply(index, Layer::Result))
    }

    /// Functions of client libraries by path: builders, options, UFCS calls of their methods.
    pub(super) fn client_call(&mut self, span: Span, path: &[String], args: &[Value]) -> Option<Value> {
        let name = path.last()?.as_str();
        let of = path.len().checked_sub(2).map_or("", |at| path[at].as_str());
        let first = args.first();
        if let Some(unit) = self.eval.models.expiry(path) {
            let expiry = expiry(unit, first.unwrap_or(&Value::unknown()));
            return Some(Value::new(Form::SetOptions(SetOptions { expiry, ..SetOptions::default() })));
        }
        if let Some(condition) = self.eval.models.condition(path) {
            return Some(Value::new(Form::SetOptions(SetOptions { condition, ..SetOptions::default() })));
        }
        if self.eval.models.makes_options(path) {
            return Some(Value::new(Form::SetOptions(SetOptions::default())));
        }
        if let Some(part) = self.transaction_call(path, args) {
            return Some(part);
        }
        if let Some(request) = self.request_of_path(path, args) {
            return Some(request);
        }
        if let Some(command) = self.eval.models.function(path).cloned() {
            return self.modelled(span, &command, None, args, None);
        }
        match (of, name) {
            (_, "cmd") if first.is_some_and(|name| name.as_text().is_some()) => {
                return Some(self.new_command(span, first?));
            }
            ("Cmd", "new") => {
                let location = Some(self.location(span));
                let builder = crate::resolve::value::CommandBuilder { location, ..Default::default() };
                return Some(Value::new(Form::Command(Rc::new(builder))));
            }
            ("redis" | "", "pipe") | ("Pipeline" | "ClusterPipeline", "new" | "with_capacity") => {
                return Some(self.new_pipeline());
            }
            ("Script", "new" | "from_lua") | ("CallBuilder", "script") => {
                let source = first?.clone();
                return Some(Value::new(Form::Script(Rc::new(ScriptBuilder {
                    source,
                    ..Default::default()
                }))));
            }
            ("Cmd", method) => return self.typed_command(span, method, args),
            _ => {}
        }
        if let Some(query) = self.query_call(span, path, args) {
            return Some(query);
        }
        let (object, rest) = args.split_first()?;
        let libraries = self.libraries_of_qualifier(of, path);
        let admits = |model: &Command| libraries.contains(&model.client);
        let model = self.eval.models.method(name, rest.len(), admits)?.clone();
        self.modelled(span, &model, Some(object), rest, None)
    }

    /// The libraries that a method belongs to when it is called by the path of its type or trait.
    fn libraries_of_qualifier(&self, qualifier: &str, path: &[String]) -> Libraries {
        let known = self.eval.models.of_connection(qualifier);
        let is_type = qualifier.starts_with(char::is_uppercase);
        if known.is_empty() && is_type { self.eval.models.of_path(path) } else { known }
    }

    /// `Cmd::set(k, v)`: a builder with the words of the command.
    fn typed_command(&mut self, span: Span, method: &str, args: &[Value]) -> Option<Value> {
        let word = match method {
            "set" | "set_options" => "SET",
            "set_nx" => "SETNX",
            "get" => "GET",
            "del" => "DEL",
            "unlink" => "UNLINK",
            "expire" => "EXPIRE",
            "pexpire" => "PEXPIRE",
            "exists" => "EXISTS",
            "incr" => "INCR",
            _ => return None,
        };
        let location = Some(self.location(span));
        let words = std::iter::once(Value::text(word)).chain(args.iter().cloned()).collect();
        let builder = crate::resolve::value::CommandBuilder { args: words, location };
        Some(Value::new(Form::Command(Rc::new(builder))))
    }

    /// A method call that a client model knows.
    pub(super) fn client_method(
        &mut self,
        whole: Span,
        span: Span,
        object: &Value,
        method: &str,
        args: &[Value],
        written: &[Expr],
    ) -> Option<Value> {
        if let Some(value) = self.statement_method(whole, object, method, args, written) {
            return Some(value);
        }
        let libraries = self.libraries_of(object)?;
        let model = self.eval.models.method(method, args.len(), |model| libraries.admit(model))?.clone();
        let queued =
            object.ty.as_ref().is_some_and(|ty| ty.name() == "Pipeline" || ty.name() == "ClusterPipeline");
        if queued {
            let pipeline = self.unknown_pipeline(object);
            self.queued_method(span, pipeline, method, args);
            return Some(object.clone());
        }
        self.modelled(span, &model, Some(object), args, None)
    }

    /// A pipeline that somebody else made and will send.
    fn unknown_pipeline(&mut self, _object: &Value) -> usize {
        self.new_pipeline();
        self.trace.pipelines.len() - 1
    }

    pub(super) fn queued_method(&mut self, span: Span, pipeline: usize, method: &str, args: &[Value]) {
        let imported = self.imported_libraries();
        let admits =
            |model: &Command| model.distinct || imported.is_empty() || imported.contains(&model.client);
        if let Some(model) = self.eval.models.method(method, args.len(), admits).cloned() {
            self.modelled(span, &model, None, args, Some(pipeline));
        }
    }

    /// The client libraries that a receiver may belong to, from its type or the file's imports; `None` when it
    /// is certainly something else.
    fn libraries_of(&self, object: &Value) -> Option<Candidates> {
        match &object.form {
            // A name that was made a handle stands for its lock.
            Form::Text(_) => {
                let known = object.ty.as_ref().map(|ty| self.eval.models.of_type(ty)).unwrap_or_default();
                return (!known.is_empty()).then_some(Candidates::Known(known));
            }
            Form::Int(_) | Form::Record(_) | Form::Tuple(_) | Form::Reply(..) => return None,
            _ => {}
        }
        let Some(ty) = &object.ty else {
            return Some(Candidates::Possible(self.imported_libraries()));
        };
        let ty = self.eval.program.peeled(self.scope, ty);
        let models = self.eval.models;
        let mut known = models.of_type(&ty);
        for path in std::iter::once(&ty.path).chain(ty.args.iter().map(|arg| &arg.path)) {
            known.extend(models.of_path(&self.eval.program.full_path(self.scope.module, path)));
        }
        if !known.is_empty() {
            return Some(Candidates::Known(known));
        }
        let is_own = self.eval.program.type_named(self.scope, &ty).is_some();
        if ty.kind != TypeForm::Other && (is_own || is_std_type(ty.name())) {
            return None;
        }
        Some(Candidates::Possible(self.imported_libraries()))
    }

    fn modelled(
        &mut self,
        span: Span,
        command: &Command,
        object: Option<&Value>,
        args: &[Value],
        pipeline: Option<usize>,
    ) -> Option<Value> {
        // `pool.get()` is no GET.
        if command.key.is_some_and(|at| at >= args.len()) {
            return None;
        }
        match command.action {
            // Reading and deleting in one step is a claim of its own, not a release.
            ActionName::GetDelete => return Some(Value::made_of(args)),
            ActionName::Script => return self.positional_script(span, args),
            ActionName::Transaction => return self.send_transaction(span, args.first()?),
            ActionName::Multi | ActionName::Pipeline => {
                return Some(self.queue(command.action == ActionName::Multi));
            }
            ActionName::Watch if command.runs.is_some() => return self.watched(span, command, args),
            ActionName::Grant | ActionName::KeepAlive | ActionName::KeepAliveAnswer | ActionName::Revoke => {
                return self.lease_call(span, command, object, args);
            }
            ActionName::Name => return Some(handle(command, args.get(command.key?)?)),
            _ => {}
        }
        let key = match command.handle {
            Some(at) => self.key_of_handle(args.get(at)?)?,
            None if command.receiver => object?.clone(),
            None => command.key.and_then(|at| args.get(at)).cloned().unwrap_or_default(),
        };
        let location = self.location(span);
        let action = action(command, args, condition(command, args)?)?;
        let value = stored_value(command, args);
        Some(self.emit_modelled(location, command, action, key, value, pipeline))
    }

    /// A pipeline, or a MULTI, to queue commands in.
    fn queue(&mut self, is_atomic: bool) -> Value {
        let queue = self.new_pipeline();
        if let Some(atomic) = self.trace.pipelines.last_mut() {
            *atomic = is_atomic;
        }
        queue
    }

    /// `redis::transaction(con, &[key], |con, pipe| …)`: WATCH, then the closure with its MULTI.
    fn watched(&mut self, span: Span, command: &Command, args: &[Value]) -> Option<Value> {
        let Form::Closure(closure) = &args.get(command.runs?)?.form else { return None };
        let closure = closure.clone();
        for key in super::command::flattened(&[args.get(command.key?)?.clone()]) {
            let location = self.location(span);
            self.emit_at(location, Action::Watch, key, None, None);
        }
        let queue = self.queue(true);
        Some(self.run_closure(&closure, &[args.first()?.clone(), queue]))
    }

    /// Writes an operation down, with what its model says beside the action.
    pub(super) fn emit_modelled(
        &mut self,
        location: Location,
        command: &Command,
        action: Action,
        key: Value,
        value: Option<Value>,
        pipeline: Option<usize>,
    ) -> Value {
        let reply = self.emit_at(location, action, key, value, pipeline);
        if let Some(operation) = self.trace.operations.last_mut() {
            operation.refusal = command.refusal;
            operation.advice.clone_from(&command.advice);
            operation.is_lock = command.is_lock
                || matches!(command.action, ActionName::Lock | ActionName::Unlock | ActionName::Extend);
        }
        reply
    }

    /// The key of the acquire that gave this handle.
    fn key_of_handle(&self, handle: &Value) -> Option<Value> {
        let acquires = handle.flows.replies.iter().filter_map(|&reply| self.trace.operations.get(reply));
        acquires.filter(|operation| operation.is_lock).map(|operation| operation.key.clone()).next()
    }

    /// `eval(script, keys, args)`.
    fn positional_script(&mut self, span: Span, args: &[Value]) -> Option<Value> {
        if let [Value { form: Form::Script(script), .. }] = args {
            let script = script.clone();
            return Some(self.run_script(span, &script));
        }
        let [source, keys, values] = args else { return None };
        let list = |value: &Value| match &value.form {
            Form::Tuple(parts) => parts.to_vec(),
            _ => vec![value.clone()],
        };
        let call =
            ScriptCall { source: source.clone(), keys: list(keys), args: list(values), is_function: false };
        let key = call.keys.first().cloned().unwrap_or_default();
        let location = self.location(span);
        Some(self.emit_at(location, Action::Script(Rc::new(call)), key, None, None))
    }
}

/// The client libraries that a receiver may belong to.
enum Candidates {
    /// Its type says so.
    Known(Libraries),
    /// The file imports them; nothing speaks against them.
    Possible(Libraries),
}

impl Candidates {
    fn admit(&self, model: &Command) -> bool {
        match self {
            Candidates::Known(libraries) => libraries.contains(&model.client),
            Candidates::Possible(imported) => model.distinct || imported.contains(&model.client),
        }
    }
}

/// A key as a value of the type that later calls need.
fn handle(command: &Command, key: &Value) -> Value {
    let made = command.makes.iter().map(|name| Type {
        kind: TypeForm::Path,
        path: vec![name.clone()],
        args: Vec::new(),
    });
    Value { ty: made.map(Rc::new).next(), ..key.clone() }
}

/// The condition of a call: one that needs a revision has none without it. `None` when it cannot be told.
fn condition(command: &Command, args: &[Value]) -> Option<WriteCondition> {
    let revision = command.revision.and_then(|at| args.get(at));
    if let Some(Form::Variant("None", _)) = revision.map(|value| &value.form) {
        return Some(WriteCondition::Always);
    }
    Some(command.condition.into())
}

/// What a call stores or compares with; a lock library makes a value of its own.
pub(super) fn stored_value(command: &Command, args: &[Value]) -> Option<Value> {
    if command.action == ActionName::Lock {
        let mut value = Value::unknown();
        value.flows.random = true;
        return Some(value);
    }
    command.value.and_then(|at| args.get(at)).cloned()
}

/// What a call does, under this condition; `None` for what is no command on one key.
pub(super) fn action(command: &Command, args: &[Value], condition: WriteCondition) -> Option<Action> {
    let lifetime = || command.ttl.map(|at| expiry(command.unit, args.get(at).unwrap_or(&Value::unknown())));
    Some(match command.action {
        ActionName::Set => set(command, args, condition, lifetime().unwrap_or_default()),
        ActionName::Lock => {
            let mut options = SetOptions { expiry: lifetime().unwrap_or_default(), ..SetOptions::default() };
            args.iter().for_each(|arg| super::command::merge(&mut options, arg));
            let expiry = if options.expiry.is_none() { Expiry::Unknown } else { options.expiry };
            Action::Set { condition: WriteCondition::IfAbsent, expiry, returns_old: false }
        }
        ActionName::Extend => Action::Set {
            condition: WriteCondition::IfEqual,
            expiry: lifetime().unwrap_or(Expiry::Unknown),
            returns_old: false,
        },
        ActionName::Merge => {
            let words = command.document.clone()?;
            Action::Merge(Rc::new(MergeCall { document: args.get(words.argument)?.clone(), words }))
        }
        ActionName::Get => Action::Get,
        ActionName::Exists => Action::Exists,
        ActionName::Delete => {
            let mut options = SetOptions { condition, ..SetOptions::default() };
            args.iter().for_each(|arg| super::command::merge(&mut options, arg));
            Action::Delete { condition: options.condition }
        }
        ActionName::Unlock => Action::Delete { condition: WriteCondition::IfEqual },
        ActionName::Expire => Action::Expire { expiry: lifetime().unwrap_or(Expiry::Unknown) },
        ActionName::Increment => Action::Increment,
        ActionName::Watch => Action::Watch,
        ActionName::Unwatch => Action::Unwatch,
        ActionName::GetDelete
        | ActionName::Script
        | ActionName::Multi
        | ActionName::Pipeline
        | ActionName::Transaction
        | ActionName::Grant
        | ActionName::KeepAlive
        | ActionName::KeepAliveAnswer
        | ActionName::Revoke
        | ActionName::Name => return None,
    })
}

fn set(command: &Command, args: &[Value], condition: WriteCondition, lifetime: Expiry) -> Action {
    let mut options = SetOptions { condition, expiry: lifetime, returns_old: false };
    args.iter().for_each(|arg| super::command::merge(&mut options, arg));
    let made_elsewhere = command.options.and_then(|at| args.get(at)).is_some_and(|given| !is_options(given));
    if options.expiry.is_none() && (made_elsewhere || command.store_lifetime) {
        options.expiry = Expiry::Unknown;
    }
    Action::Set { condition: options.condition, expiry: options.expiry, returns_old: options.returns_old }
}

/// Whether a value shows all the options that it holds.
fn is_options(value: &Value) -> bool {
    match &value.form {
        Form::SetOptions(_) | Form::Variant("None", _) => true,
        Form::Variant(_, Some(inner)) => matches!(inner.form, Form::SetOptions(_)),
        _ => false,
    }
}

/// Whether the text shows what an operation does and to which key.
pub(super) fn is_shown(action: &Action, key: &Value) -> bool {
    let is_given = match action {
        Action::Merge(call) => matches!(call.document.form, Form::Symbol(Symbol::Param { .. })),
        _ => false,
    };
    !is_given && is_named(key)
}

/// Whether a key is more than a parameter of the function that uses it.
fn is_named(key: &Value) -> bool {
    let has_text = key.pieces().iter().any(|piece| match piece {
        crate::resolve::value::Piece::Text { text, .. } => text.contains(char::is_alphanumeric),
        crate::resolve::value::Piece::Hole(_) => false,
    });
    has_text || matches!(key.form, Form::Symbol(Symbol::Field { .. })) || key.flows.params.is_empty()
}

/// A lifetime of `amount` in `unit`.
pub(super) fn expiry(unit: Unit, amount: &Value) -> Expiry {
    let factor = match unit {
        Unit::Seconds => 1000,
        Unit::Milliseconds => 1,
        Unit::SecondsOfDay | Unit::MillisecondsOfDay => return Expiry::At(Box::new(amount.clone())),
        Unit::Keep => return Expiry::Keep,
    };
    lifetime(factor, amount.clone())
}

/// A lifetime of so many units of `unit` milliseconds, or of a span of time.
pub(super) fn lifetime(unit: i128, amount: Value) -> Expiry {
    let millis = match &amount.form {
        Form::Int(number) => number.checked_mul(unit),
        Form::Duration(millis) => Some(*millis),
        Form::Variant("None", _) => return Expiry::None,
        Form::Variant("Some", Some(inner)) => return lifetime(unit, (**inner).clone()),
        _ => amount
            .as_text()
            .and_then(|text| text.parse::<i128>().ok())
            .and_then(|number| number.checked_mul(unit)),
    };
    Expiry::After { millis, unit, value: Box::new(amount) }
}

/// A short name of where a value comes from, for sessions and messages.
pub(super) fn root_name(value: &Value) -> Option<Rc<str>> {
    match &value.form {
        Form::Symbol(symbol) => Some(symbol.name().clone()),
        _ => None,
    }
}
