//! Operations on stores: client methods by model, constructors of builders, and the emission itself.

use std::rc::Rc;

use crate::facts::rust::{Expr, TypeForm};
use crate::facts::{Location, Span};

use super::Frame;
use crate::resolve::models::{ActionName, Method, Unit};
use crate::resolve::trace::{Action, Operation, ScriptCall, Uses};
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
        let named_at = is_named(&key).then_some(0);
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
        });
        Value::new(Form::Reply(index, Layer::Result))
    }

    pub(super) fn emit_exit(&mut self, span: Span) {
        let location = self.location(span);
        self.emit_at(location, Action::Exit, Value::unknown(), None, None);
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
            ("SetOptions", "default" | "new") => {
                return Some(Value::new(Form::SetOptions(SetOptions::default())));
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
        if self.eval.models.is_connection(of) && !args.is_empty() {
            let model = self.eval.models.method(name, args.len() - 1)?.clone();
            return self.modelled(span, &model, &args[1..], None);
        }
        None
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
        let model = self.eval.models.method(method, args.len())?.clone();
        if !self.can_be_connection(object, model.distinct) {
            return None;
        }
        let queued =
            object.ty.as_ref().is_some_and(|ty| ty.name() == "Pipeline" || ty.name() == "ClusterPipeline");
        if queued {
            let pipeline = self.unknown_pipeline(object);
            self.queued_method(span, pipeline, method, args);
            return Some(object.clone());
        }
        self.modelled(whole, &model, args, None)
    }

    /// A pipeline that somebody else made and will send.
    fn unknown_pipeline(&mut self, _object: &Value) -> usize {
        self.new_pipeline();
        self.trace.pipelines.len() - 1
    }

    pub(super) fn queued_method(&mut self, span: Span, pipeline: usize, method: &str, args: &[Value]) {
        if let Some(model) = self.eval.models.method(method, args.len()).cloned() {
            self.modelled(span, &model, args, Some(pipeline));
        }
    }

    /// Whether a method of a client can be meant, from the receiver's type or the file's imports.
    fn can_be_connection(&self, object: &Value, distinct: bool) -> bool {
        match &object.form {
            Form::Text(_) | Form::Int(_) | Form::Record(_) | Form::Tuple(_) | Form::Reply(..) => {
                return false;
            }
            _ => {}
        }
        let Some(ty) = &object.ty else {
            return distinct || self.imports_client();
        };
        let ty = self.eval.program.peeled(self.scope, ty);
        let names = std::iter::once(ty.name()).chain(ty.args.iter().map(|arg| arg.name()));
        if names.clone().any(|name| self.eval.models.is_connection(name))
            || self.eval.models.is_client_path(&ty.path)
        {
            return true;
        }
        if ty.kind == TypeForm::Other {
            return distinct || self.imports_client();
        }
        let is_own = self.eval.program.type_named(self.scope, &ty).is_some();
        let is_plain = is_std_type(ty.name());
        !is_own && !is_plain && (distinct || self.imports_client())
    }

    fn modelled(
        &mut self,
        span: Span,
        model: &Method,
        args: &[Value],
        pipeline: Option<usize>,
    ) -> Option<Value> {
        let unknown = Value::unknown();
        let argument = |at: Option<usize>| at.and_then(|at| args.get(at));
        // `pool.get()` is no GET.
        if model.key.is_some_and(|at| at >= args.len()) {
            return None;
        }
        let key = argument(model.key).cloned().unwrap_or_default();
        let value = argument(model.value).cloned();
        let lifetime = model.ttl.map(|at| expiry(model.unit, args.get(at).unwrap_or(&unknown)));
        let condition: WriteCondition = model.condition.into();
        let action = match model.action {
            ActionName::Set => {
                let mut options =
                    SetOptions { condition, expiry: lifetime.unwrap_or_default(), returns_old: false };
                args.iter().for_each(|arg| super::command::merge(&mut options, arg));
                Action::Set {
                    condition: options.condition,
                    expiry: options.expiry,
                    returns_old: options.returns_old,
                }
            }
            ActionName::Get => Action::Get,
            // Reading and deleting in one step is a claim of its own, not a release.
            ActionName::GetDelete => return Some(Value::made_of(args)),
            ActionName::Exists => Action::Exists,
            ActionName::Delete => Action::Delete { condition },
            ActionName::Expire => Action::Expire { expiry: lifetime.unwrap_or(Expiry::Unknown) },
            ActionName::Increment => Action::Increment,
            ActionName::Watch => Action::Watch,
            ActionName::Unwatch => Action::Unwatch,
            ActionName::Script => return self.positional_script(span, args),
        };
        let location = self.location(span);
        Some(self.emit_at(location, action, key, value, pipeline))
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

/// Whether a key is more than a parameter of the function that uses it.
pub(super) fn is_named(key: &Value) -> bool {
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
    let millis = match &amount.form {
        Form::Int(number) => number.checked_mul(factor),
        Form::Duration(millis) => Some(*millis),
        Form::Variant("None", _) => return Expiry::None,
        _ => amount
            .as_text()
            .and_then(|text| text.parse::<i128>().ok())
            .and_then(|number| number.checked_mul(factor)),
    };
    Expiry::After { millis, value: Box::new(amount.clone()) }
}

fn is_std_type(name: &str) -> bool {
    matches!(
        name,
        "HashMap"
            | "BTreeMap"
            | "HashSet"
            | "BTreeSet"
            | "Vec"
            | "VecDeque"
            | "String"
            | "str"
            | "IndexMap"
            | "DashMap"
            | "LruCache"
            | "Map"
            | "Value"
            | "HeaderMap"
            | "Extensions"
            | "Headers"
            | "Url"
            | "File"
            | "Path"
            | "PathBuf"
            | "Cell"
            | "AtomicBool"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "i32"
            | "i64"
            | "usize"
            | "bool"
            | "char"
            | "Duration"
            | "Instant"
            | "SystemTime"
            | "Cache"
            | "Entry"
            | "Slice"
    )
}

/// A short name of where a value comes from, for sessions and messages.
pub(super) fn root_name(value: &Value) -> Option<Rc<str>> {
    match &value.form {
        Form::Symbol(Symbol::Param { name, .. } | Symbol::Local(name) | Symbol::Call(name)) => {
            Some(name.clone())
        }
        Form::Symbol(Symbol::Field { name, .. }) => Some(name.clone()),
        _ => None,
    }
}
