//! Command builders and pipelines: `cmd("SET").arg(…)`, `pipe().atomic().del(…)`, and what a finished
//! command means by the protocol of Redis.

use std::rc::Rc;

use crate::facts::{Location, Span};

use super::Frame;
use crate::resolve::models::Unit;
use crate::resolve::trace::{Action, ScriptCall};
use crate::resolve::value::{
    CommandBuilder, Expiry, Form, ScriptBuilder, SetOptions, Symbol, Value, WriteCondition,
};

/// A pipeline under construction: the command that still takes arguments.
#[derive(Debug, Default)]
pub(super) struct PipelineState {
    pending: Option<CommandBuilder>,
}

/// Methods that send a command or a pipeline.
const SENDING: &[&str] = &[
    "query",
    "query_async",
    "exec",
    "exec_async",
    "execute",
    "execute_async",
    "invoke",
    "invoke_async",
    "query_async_std",
    "send",
    "send_packed_command",
];

/// What a finished command does.
pub(super) struct Meaning {
    pub action: Action,
    pub key: Value,
    pub value: Option<Value>,
}

impl Frame<'_, '_> {
    /// Methods of things under construction; `None` when the receiver is no builder.
    pub(super) fn builder_method(
        &mut self,
        whole: Span,
        span: Span,
        object: &Value,
        method: &str,
        args: &[Value],
    ) -> Option<Value> {
        match &object.form {
            Form::Command(command) => Some(self.command_method(whole, command, method, args)),
            Form::Pipeline(pipeline) => Some(self.pipeline_method(span, *pipeline, method, args)),
            Form::SetOptions(options) => Some(options_method(options, method, args)),
            Form::Script(script) => Some(self.script_method(whole, script, method, args)),
            Form::Query(query) => Some(self.query_method(whole, query, method, args)),
            Form::Transaction(transaction) => Some(self.conditional_method(transaction, method, args)),
            Form::Request(request) => self.request_method(whole, &request.clone(), method, args),
            Form::Symbol(Symbol::Field { .. } | Symbol::Param { .. }) if self.is_script(object) => {
                let script = ScriptBuilder { source: object.clone(), ..ScriptBuilder::default() };
                Some(self.script_method(whole, &script, method, args))
            }
            _ => None,
        }
    }

    pub(super) fn new_command(&mut self, span: Span, name: &Value) -> Value {
        let location = Some(self.location(span));
        Value::new(Form::Command(Rc::new(CommandBuilder { args: vec![name.clone()], location })))
    }

    fn command_method(
        &mut self,
        whole: Span,
        command: &CommandBuilder,
        method: &str,
        args: &[Value],
    ) -> Value {
        match method {
            "arg" | "add_arg" => {
                let mut next = command.clone();
                next.args.extend(flattened(args));
                Value::new(Form::Command(Rc::new(next)))
            }
            // Of these, only the error comes back.
            "exec" | "exec_async" => {
                self.send_command(whole, command);
                Value::unknown()
            }
            _ if SENDING.contains(&method) => self.send_command(whole, command),
            _ => Value::new(Form::Command(Rc::new(command.clone()))),
        }
    }

    fn send_command(&mut self, whole: Span, command: &CommandBuilder) -> Value {
        // A builder kept in a variable is a command only where it is sent.
        self.run_command(self.location(whole), &command.args, None)
    }

    fn run_command(&mut self, location: Location, words: &[Value], pipeline: Option<usize>) -> Value {
        let Some(meaning) = meaning(words) else { return Value::made_of(words) };
        self.emit_at(location, meaning.action, meaning.key, meaning.value, pipeline)
    }

    pub(super) fn new_pipeline(&mut self) -> Value {
        self.trace.pipelines.push(false);
        self.pipelines.resize_with(self.trace.pipelines.len(), PipelineState::default);
        Value::new(Form::Pipeline(self.trace.pipelines.len() - 1))
    }

    fn pipeline_method(&mut self, span: Span, pipeline: usize, method: &str, args: &[Value]) -> Value {
        let this = Value::new(Form::Pipeline(pipeline));
        match method {
            "atomic" => {
                self.trace.pipelines[pipeline] = true;
                this
            }
            "cmd" | "add_command" => {
                self.flush_pipeline(pipeline);
                let location = Some(self.location(span));
                let words = match args.first().map(|arg| &arg.form) {
                    Some(Form::Command(command)) => command.args.clone(),
                    _ => args.to_vec(),
                };
                let pending = CommandBuilder { args: words, location };
                self.pipelines[pipeline].pending = Some(pending);
                this
            }
            "arg" => {
                if let Some(pending) = &mut self.pipelines[pipeline].pending {
                    pending.args.extend(flattened(args));
                }
                this
            }
            "ignore" | "clear" => {
                self.flush_pipeline(pipeline);
                this
            }
            _ if SENDING.contains(&method) => {
                self.flush_pipeline(pipeline);
                let location = self.location(span);
                self.emit_at(location, Action::SendPipeline(pipeline), Value::unknown(), None, Some(pipeline))
            }
            _ => {
                self.flush_pipeline(pipeline);
                self.queued_method(span, pipeline, method, args);
                this
            }
        }
    }

    /// Sends what still waits for arguments.
    fn flush_pipeline(&mut self, pipeline: usize) {
        let Some(state) = self.pipelines.get_mut(pipeline) else { return };
        if let Some(pending) = state.pending.take()
            && let Some(location) = pending.location
        {
            self.run_command(location, &pending.args, Some(pipeline));
        }
    }

    pub(super) fn flush_pipelines(&mut self) {
        for pipeline in 0..self.pipelines.len() {
            self.flush_pipeline(pipeline);
        }
    }

    fn script_method(&mut self, whole: Span, script: &ScriptBuilder, method: &str, args: &[Value]) -> Value {
        let mut next = script.clone();
        match method {
            "key" | "keys" => next.keys.extend(flattened(args)),
            "arg" | "args" => next.args.extend(flattened(args)),
            _ if SENDING.contains(&method) => return self.run_script(whole, script),
            _ => {}
        }
        Value::new(Form::Script(Rc::new(next)))
    }

    /// A script that was made elsewhere, and is kept or handed over.
    fn is_script(&self, value: &Value) -> bool {
        let ty = value.ty.as_ref();
        ty.is_some_and(|ty| self.eval.program.peeled(self.scope, ty).name() == "Script")
    }

    pub(super) fn run_script(&mut self, whole: Span, script: &ScriptBuilder) -> Value {
        let key = script.keys.first().cloned().unwrap_or_default();
        let call = ScriptCall {
            source: script.source.clone(),
            keys: script.keys.clone(),
            args: script.args.clone(),
            is_function: false,
        };
        let location = self.location(whole);
        self.emit_at(location, Action::Script(Rc::new(call)), key, None, None)
    }
}

fn options_method(options: &SetOptions, method: &str, args: &[Value]) -> Value {
    let mut next = options.clone();
    match method {
        "conditional_set" | "with_expiration" | "value_comparison" | "condition" | "expiration" => {
            args.iter().for_each(|arg| merge(&mut next, arg));
        }
        // A key tied to a lease lives as long as that.
        "with_lease" => {
            let lease = args.first().cloned().unwrap_or_default();
            next.expiry = Expiry::Lease(Box::new(lease));
        }
        "get" => next.returns_old = true,
        _ => {}
    }
    Value::new(Form::SetOptions(next))
}

/// Adds what a condition, an expiry or whole options say.
pub(super) fn merge(options: &mut SetOptions, value: &Value) {
    match &value.form {
        Form::SetOptions(more) => {
            if more.condition != WriteCondition::Always {
                options.condition = more.condition;
            }
            if !more.expiry.is_none() {
                options.expiry = more.expiry.clone();
            }
            options.returns_old |= more.returns_old;
        }
        Form::Variant("Some", Some(inner)) => merge(options, inner),
        _ => {}
    }
}

/// A list given as one argument is many arguments.
pub(super) fn flattened(args: &[Value]) -> Vec<Value> {
    let flat = |arg: &Value| match &arg.form {
        Form::Tuple(parts) => parts.to_vec(),
        _ => vec![arg.clone()],
    };
    args.iter().flat_map(flat).collect()
}

/// The items of a list; a single value is a list of one.
pub(super) fn flattened_one(value: &Value) -> Vec<Value> {
    flattened(std::slice::from_ref(value))
}

/// What a command of these words does; `None` for commands that no rule asks about.
pub(super) fn meaning(words: &[Value]) -> Option<Meaning> {
    let mut name = words.first()?.as_text()?.to_ascii_uppercase();
    let mut rest = &words[1..];
    if let Some((first, _)) = name.clone().split_once(' ') {
        name = first.to_owned();
    }
    match name.as_str() {
        "EVAL" | "EVALSHA" | "EVAL_RO" => return script_meaning(rest, false),
        "FCALL" | "FCALL_RO" => return script_meaning(rest, true),
        _ => {}
    }
    let key = rest.first().cloned().unwrap_or_default();
    rest = rest.get(1..).unwrap_or(&[]);
    let value = rest.first().cloned();
    let action = match name.as_str() {
        "SET" => set_action(rest.get(1..).unwrap_or(&[])),
        "SETNX" => {
            Action::Set { condition: WriteCondition::IfAbsent, expiry: Expiry::None, returns_old: false }
        }
        "SETEX" | "PSETEX" => {
            let unit = if name == "SETEX" { Unit::Seconds } else { Unit::Milliseconds };
            let expiry = super::store::expiry(unit, rest.first().unwrap_or(&Value::unknown()));
            let action = Action::Set { condition: WriteCondition::Always, expiry, returns_old: false };
            return Some(Meaning { action, key, value: rest.get(1).cloned() });
        }
        "GETSET" => {
            Action::Set { condition: WriteCondition::Always, expiry: Expiry::None, returns_old: true }
        }
        "GET" | "GETEX" => Action::Get,
        "EXISTS" => Action::Exists,
        "DEL" | "UNLINK" => Action::Delete { condition: WriteCondition::Always },
        "DELEX" | "DELIFEQ" => {
            let texts: Vec<String> = rest.iter().filter_map(Value::as_text).collect();
            let compares = name == "DELIFEQ" || texts.iter().any(|text| text.eq_ignore_ascii_case("IFEQ"));
            let condition = if compares { WriteCondition::IfEqual } else { WriteCondition::Always };
            return Some(Meaning { action: Action::Delete { condition }, key, value: rest.last().cloned() });
        }
        "EXPIRE" | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT" => {
            let unit = match name.as_str() {
                "EXPIRE" => Unit::Seconds,
                "PEXPIRE" => Unit::Milliseconds,
                "EXPIREAT" => Unit::SecondsOfDay,
                _ => Unit::MillisecondsOfDay,
            };
            Action::Expire { expiry: super::store::expiry(unit, rest.first().unwrap_or(&Value::unknown())) }
        }
        "INCR" | "INCRBY" | "DECR" => Action::Increment,
        "WATCH" => Action::Watch,
        "UNWATCH" => Action::Unwatch,
        _ => return None,
    };
    Some(Meaning { action, key, value })
}

/// `NX PX 30000` and its like, in any order.
fn set_action(words: &[Value]) -> Action {
    let mut options = SetOptions::default();
    let mut at = 0;
    // Options packed into one formatted argument are a syntax error to the server, but say what was meant.
    let packed: Vec<String> = words
        .iter()
        .flat_map(|word| word.pieces())
        .filter_map(|piece| match piece {
            crate::resolve::value::Piece::Text { text, .. } if text.trim().contains(' ') => {
                Some(text.to_string())
            }
            _ => None,
        })
        .flat_map(|text| text.split_whitespace().map(str::to_ascii_uppercase).collect::<Vec<_>>())
        .collect();
    for word in &packed {
        set_word(&mut options, word, None);
    }
    while let Some(word) = words.get(at) {
        if let Some(text) = word.as_text() {
            let takes_number = set_word(&mut options, &text.to_ascii_uppercase(), words.get(at + 1));
            at += usize::from(takes_number);
        } else {
            merge(&mut options, word);
        }
        at += 1;
    }
    Action::Set { condition: options.condition, expiry: options.expiry, returns_old: options.returns_old }
}

/// Takes in one option; says whether it has used up the next word.
fn set_word(options: &mut SetOptions, word: &str, next: Option<&Value>) -> bool {
    let unknown = Value::unknown();
    let number = next.unwrap_or(&unknown);
    match word {
        "NX" => options.condition = WriteCondition::IfAbsent,
        "XX" => options.condition = WriteCondition::IfPresent,
        "IFEQ" => options.condition = WriteCondition::IfEqual,
        "GET" => options.returns_old = true,
        "KEEPTTL" => options.expiry = Expiry::Keep,
        "EX" => options.expiry = super::store::expiry(Unit::Seconds, number),
        "PX" => options.expiry = super::store::expiry(Unit::Milliseconds, number),
        "EXAT" => options.expiry = super::store::expiry(Unit::SecondsOfDay, number),
        "PXAT" => options.expiry = super::store::expiry(Unit::MillisecondsOfDay, number),
        _ => return false,
    }
    matches!(word, "IFEQ" | "EX" | "PX" | "EXAT" | "PXAT") && next.is_some()
}

/// `EVAL script numkeys key… arg…`, `FCALL function numkeys key… arg…`.
fn script_meaning(words: &[Value], is_function: bool) -> Option<Meaning> {
    let source = words.first()?.clone();
    let count =
        words.get(1).and_then(Value::as_int).and_then(|count| usize::try_from(count).ok()).unwrap_or(1);
    let rest = words.get(2..).unwrap_or(&[]);
    let split = count.min(rest.len());
    let (keys, args) = rest.split_at(split);
    let key = keys.first().cloned().unwrap_or_default();
    let call = ScriptCall { source, keys: keys.to_vec(), args: args.to_vec(), is_function };
    Some(Meaning { action: Action::Script(Rc::new(call)), key, value: None })
}
