//! The evaluator: runs a function body on symbolic values and writes down what it does to stores.
//!
//! It follows values through bindings, branches, closures and calls; it does not type-check, and a name
//! it cannot resolve is an unknown value, never a guess.

mod backend_errors;
mod bind;
mod block;
mod builtin;
mod call;
mod chain;
mod command;
mod construct;
mod control;
mod deadline;
mod dispatch;
mod expr;
mod format;
mod handed_closures;
mod handed_on;
mod held;
mod http;
mod instantiate;
mod leases;
mod loops;
mod parameters;
mod query;
mod rounds;
mod shutdown;
mod std_types;
mod store;
mod tasks;
mod transaction;

pub(super) use construct::REST;
pub use construct::Settings;
pub(super) use deadline::is_age;
pub use expr::unit_of_name;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::facts::rust::{Function, Type, TypeForm};
use crate::facts::{FileId, Location, Span};

use super::flows::Few;
use super::models::{Models, Refusal};
use super::program::{Program, Scope};
use super::trace::{ClockUse, ClockUseKind, Context, FieldName, GuardList, HandleUse, Trace, Uses};
use super::value::{Form, OperationIndex, Piece, Symbol, Value};

/// Closures inside closures, and constants made of constants, are followed this deep.
const MAX_NESTING: usize = 24;

pub(super) use format::normal_path;

/// Texts of files that Rust code includes by name.
pub trait Texts {
    /// The file and its text, for a path with `/`, as the run names files.
    fn text(&self, path: &str) -> Option<(FileId, Rc<str>)>;
}

pub struct Evaluator<'a> {
    pub program: &'a Program<'a>,
    pub models: &'a Models,
    texts: &'a dyn Texts,
    /// The folders of the packages, by number, with a `/` at the end (or empty).
    package_roots: &'a [String],
    traces: HashMap<usize, Rc<Trace>>,
    constants: HashMap<Location, Value>,
    /// What constructors put into the fields of each type.
    pub fields: BTreeMap<FieldName, Vec<Value>>,
    /// Which functions each function calls or names.
    pub calls: BTreeMap<usize, Vec<usize>>,
    /// What methods do with the handles that they keep in fields.
    pub handle_fields: BTreeMap<FieldName, Vec<(usize, HandleUse)>>,
    /// What the age of a field is compared with.
    pub aged_fields: BTreeMap<FieldName, Vec<Value>>,
    /// Methods called outside of destructors on receivers that are not known.
    pub calls_by_name: BTreeSet<String>,
    /// Constants that were put into new values side by side.
    pub settings: Vec<Settings>,
    nesting: usize,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        program: &'a Program<'a>,
        models: &'a Models,
        texts: &'a dyn Texts,
        package_roots: &'a [String],
    ) -> Self {
        Self {
            program,
            models,
            texts,
            package_roots,
            traces: HashMap::new(),
            constants: HashMap::new(),
            fields: BTreeMap::new(),
            calls: BTreeMap::new(),
            handle_fields: BTreeMap::new(),
            aged_fields: BTreeMap::new(),
            calls_by_name: BTreeSet::new(),
            settings: Vec::new(),
            nesting: 0,
        }
    }

    /// Evaluates one function; its callees that are to be followed come before it.
    pub fn run(&mut self, function: usize) -> Rc<Trace> {
        let entry = self.program.functions[function];
        let mut frame = Frame::new(self, function, entry.scope(), entry.function);
        frame.body(entry.function);
        let mut trace = frame.trace;
        // There are many of them, and none grows any more.
        trace.operations.shrink_to_fit();
        trace.clock_uses.shrink_to_fit();
        let trace = Rc::new(trace);
        self.traces.insert(function, trace.clone());
        trace
    }

    /// Evaluates a function that nothing has asked for so far.
    fn ensure_trace(&mut self, function: usize) {
        if self.nesting < MAX_NESTING && !self.traces.contains_key(&function) {
            // Whoever asks for it while it is evaluated learns nothing.
            self.traces.insert(function, Rc::default());
            self.nesting += 1;
            self.run(function);
            self.nesting -= 1;
        }
    }

    pub fn trace(&self, function: usize) -> Option<Rc<Trace>> {
        self.traces.get(&function).cloned()
    }
}

/// The fields of a value, inside `Ok(…)` and `Some(…)`, that replies are in.
fn given(result: &Value) -> Vec<(Rc<str>, Few<OperationIndex>)> {
    let mut result = result;
    while let Form::Variant(_, Some(inner)) = &result.form {
        result = inner;
    }
    let Form::Record(record) = &result.form else { return Vec::new() };
    let fields = record.fields.iter().filter(|(_, value)| !value.flows.replies.is_empty());
    fields.map(|(name, value)| (name.clone(), value.flows.replies.clone())).collect()
}

/// Variables by name, one map for each block that is open.
type Scopes = Vec<Rc<HashMap<Rc<str>, Value>>>;

/// The evaluation of one function.
struct Frame<'e, 'a> {
    eval: &'e mut Evaluator<'a>,
    function: usize,
    scope: Scope,
    file: FileId,
    owner: Option<&'a str>,
    generics: &'a [crate::facts::rust::Generic],
    trace: Trace,
    /// Shared, so that a branch can start from a copy of them at no cost.
    scopes: Scopes,
    guards: Rc<GuardList>,
    context: Context,
    pipelines: Vec<command::PipelineState>,
    results: Vec<Value>,
    /// The code behind this point cannot be reached.
    diverged: bool,
    /// The operations whose refusal, which comes as an error, leaves the function.
    refusals: BTreeSet<usize>,
    loops: Vec<loops::LoopState>,
    /// What ends loops and what happens beside operations, in order.
    signals: Vec<loops::Signal>,
    /// Which replies decided the values of variables that were set in branches: counters and flags.
    decided: HashMap<Rc<str>, BTreeSet<usize>>,
    /// The names of variables that have held a reply whose type does something when it is dropped.
    guard_names: BTreeSet<Rc<str>>,
    selects: u32,
    /// How many closures and async blocks are around: leaving them does not leave the function.
    blocks: u32,
    nesting: usize,
    /// How many closures it may still have run by functions that it hands them to.
    handed_left: usize,
    /// Replies that are answers over HTTP.
    answers: BTreeSet<usize>,
    signs_of_life: leases::SignsOfLife,
    /// The body of `Display::fmt` is one expression: its value is the text that it writes.
    displays: bool,
}

impl<'e, 'a> Frame<'e, 'a> {
    fn new(eval: &'e mut Evaluator<'a>, function: usize, scope: Scope, facts: &'a Function) -> Self {
        let file = eval.program.units[scope.unit].file;
        Self {
            eval,
            function,
            scope,
            file,
            owner: facts.owner.as_deref(),
            generics: &facts.generics,
            trace: Trace::default(),
            scopes: vec![Rc::default()],
            guards: Rc::default(),
            context: Context::default(),
            pipelines: Vec::new(),
            results: Vec::new(),
            diverged: false,
            refusals: BTreeSet::new(),
            loops: Vec::new(),
            signals: Vec::new(),
            decided: HashMap::new(),
            guard_names: BTreeSet::new(),
            selects: 0,
            blocks: 0,
            nesting: 0,
            handed_left: handed_closures::MAX_HANDED,
            answers: BTreeSet::new(),
            signs_of_life: leases::SignsOfLife::default(),
            displays: false,
        }
    }

    fn body(&mut self, facts: &'a Function) {
        self.context.in_drop = facts.name == "drop" && facts.implements.as_deref() == Some("Drop");
        self.displays = facts.name == "fmt"
            && facts.implements.as_deref() == Some("Display")
            && facts.body.as_ref().is_some_and(|body| body.statements.len() == 1);
        self.trace.tested_params = vec![false; facts.params.len() + 1];
        for (index, param) in facts.params.iter().enumerate() {
            let name: Rc<str> = bind::pattern_name(&param.pattern).unwrap_or("").into();
            let value = Value::symbol(Symbol::Param { index, name }).with_type(Some(self.bounded(&param.ty)));
            self.bind(&param.pattern, value);
        }
        if facts.has_self {
            let path = vec!["Self".to_owned()];
            let ty = self.bounded(&Type { kind: TypeForm::Path, path, args: Vec::new() });
            let symbol = Symbol::Param { index: facts.params.len(), name: "self".into() };
            self.set_local("self", Value::symbol(symbol).with_type(Some(ty)));
        }
        if let Some(body) = &facts.body {
            let value = self.block(body);
            if !self.diverged {
                self.results.push(value);
            }
        }
        self.flush_pipelines();
        let results = std::mem::take(&mut self.results);
        for result in &results {
            self.mark(result, |uses| uses.returned = true);
            self.return_handles(result);
            self.trace.given.extend(given(result));
        }
        self.settle_signs_of_life();
        self.judge_repetitions();
        let result = results
            .iter()
            .skip(1)
            .fold(results.first().cloned().unwrap_or_default(), |all, result| Value::either(&all, result));
        // Whoever looks at the result hears of a refusal that has left by `?`.
        let mut result = result;
        self.refusals.iter().for_each(|&operation| result.flows.replies.insert(operation));
        let result_type = facts.result.as_ref().map(|ty| self.bounded(ty));
        self.trace.result = result.with_type(result_type);
    }

    /// A type as written here, in words that mean the same everywhere: a generic parameter's type is its
    /// first bound; `Self` is the type of the block.
    fn bounded(&self, ty: &Type) -> Rc<Type> {
        self.eval.program.absolute(self.scope, &self.filled_in(ty, MAX_NESTING))
    }

    fn filled_in(&self, ty: &Type, depth: usize) -> Type {
        if let [name] = ty.path.as_slice() {
            let generic = self.generics.iter().find(|generic| generic.name == *name);
            if let Some(generic) = generic
                && let Some((bound, others)) = generic.bounds.split_first()
            {
                let mut all = Type { kind: TypeForm::Impl, ..bound.clone() };
                all.args.extend(others.iter().cloned());
                return all;
            }
            if name == "Self" {
                let path = vec![self.owner.unwrap_or_default().to_owned()];
                return Type { kind: TypeForm::Path, path, args: Vec::new() };
            }
        }
        let Some(depth) = depth.checked_sub(1) else { return ty.clone() };
        let args = ty.args.iter().map(|arg| self.filled_in(arg, depth)).collect();
        Type { kind: ty.kind, path: ty.path.clone(), args }
    }

    fn location(&self, span: Span) -> Location {
        Location { file: self.file, span }
    }

    fn set_local(&mut self, name: &str, value: Value) {
        self.note_guard(name, &value);
        if let Some(scope) = self.scopes.last_mut() {
            Rc::make_mut(scope).insert(name.into(), value);
        }
    }

    /// Changes a variable where it was declared.
    fn assign_local(&mut self, name: &str, value: Value) {
        self.note_guard(name, &value);
        match self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name)) {
            Some(scope) => {
                Rc::make_mut(scope).insert(name.into(), value);
            }
            None => self.set_local(name, value),
        }
    }

    fn local(&self, name: &str) -> Option<&Value> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Runs `work` in a scope of its own.
    fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Rc::default());
        let value = work(self);
        self.scopes.pop();
        value
    }

    /// Runs `work` where `value` is known to say yes or no, then forgets it.
    fn guarded<T>(&mut self, value: &Value, holds: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.guards.clone();
        self.assume(value, holds);
        let result = work(self);
        self.guards = before;
        result
    }

    /// Adds what `value` says to what is known from here on.
    fn assume(&mut self, value: &Value, holds: bool) {
        let guard = Some((value.as_condition(), holds));
        self.guards = Rc::new(GuardList { guard, outer: Some(self.guards.clone()) });
    }

    /// Notes a use of the replies and parameters that flow into `value`.
    fn mark(&mut self, value: &Value, change: impl Fn(&mut Uses)) {
        for &reply in &value.flows.replies {
            self.trace.mark(reply, &change);
        }
        let mut uses = Uses::default();
        change(&mut uses);
        if uses.tested || uses.compared || uses.passed {
            for &param in &value.flows.params {
                if let Some(tested) = self.trace.tested_params.get_mut(param) {
                    *tested = true;
                }
            }
        }
    }

    /// Notes that `value` decides something.
    fn mark_tested(&mut self, value: &Value) {
        if let Form::Condition(condition) = &value.form
            && let super::value::Condition::Holds { value: asked, .. } = &**condition
            && let Some(operation) = self.asked_of_transport(asked)
        {
            self.trace.mark(operation, |uses| uses.error_tested = true);
            return;
        }
        if let Form::Reply(operation, super::value::Layer::Result | super::value::Layer::Message) = value.form
        {
            self.trace.mark(operation, |uses| uses.error_tested = true);
            return;
        }
        self.mark(value, |uses| uses.tested = true);
    }

    /// Notes that `value` is compared, for an answer that may go anywhere.
    fn mark_compared(&mut self, value: &Value) {
        if let Form::Reply(operation, super::value::Layer::Result | super::value::Layer::Message) = value.form
        {
            self.trace.mark(operation, |uses| uses.error_tested = true);
            return;
        }
        self.mark(value, |uses| uses.compared = true);
    }

    /// Leaving on an error is leaving without the lock, where a refusal is an error.
    fn heard_refusal(&mut self, operation: super::value::OperationIndex, reply: &Value) {
        let is_error = |operation: &super::trace::Operation| operation.refusal == Refusal::Error;
        if self.trace.operations.get(operation).is_some_and(is_error) {
            self.refusals.insert(operation);
            self.trace.mark(operation, |uses| uses.error_tested = true);
            self.assume(reply, true);
        }
    }

    fn clock_use(&mut self, span: Span, kind: ClockUseKind) {
        let (location, function) = (self.location(span), self.function);
        self.trace.clock_uses.push(ClockUse { location, function, kind });
    }

    /// A text with where it was written.
    fn written_text(&self, literal: &crate::facts::rust::TextLiteral) -> Value {
        let written = super::value::Written { file: self.file, map: literal.map.clone() };
        let piece = Piece::Text { text: literal.value.as_str().into(), written: Some(Rc::new(written)) };
        Value::new(Form::Text(Rc::new([piece])))
    }

    /// The client libraries whose common method names this file can use.
    fn imported_libraries(&self) -> super::models::Libraries {
        self.eval.models.of_imports(&self.eval.program.imports(self.scope.module))
    }
}
