//! Calls of the workspace's own functions: the callee's trace, seen from the caller with the arguments in
//! the place of the parameters.

mod readings;
mod repetitions;
mod requests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::facts::Span;

use super::Frame;
use super::handed_closures::Handed;
use crate::resolve::flows::Few;
use crate::resolve::quantity;
use crate::resolve::trace::{
    Action, GuardList, MAX_OPERATIONS, MergeCall, Operation, ScriptCall, SqlCall, Trace,
};
use crate::resolve::value::{
    Condition, Expiry, Flows, Form, Layer, Moment, Piece, QueryBuilder, Record, ScriptBuilder, Selection,
    Selector, Symbol, Ticker, Value,
};

/// Longer chains of calls are not shown.
const MAX_VIA: usize = 8;

/// Conditions further out than this are not carried into callers.
const MAX_GUARDS: usize = 16;

/// The work that one call may cost.
const MAX_REWRITES: usize = 20_000;

/// Values nested deeper than this are cut.
const MAX_DEPTH: usize = 24;

/// The arguments of a call and where the callee's operations come to stand.
pub(super) struct Arguments<'v> {
    values: &'v [Value],
    receiver: Option<&'v Value>,
    /// Added to the numbers of operations and pipelines.
    operations: usize,
    pipelines: usize,
    tasks: usize,
    /// The number of the callee's parameters: the position of `self`.
    self_index: usize,
    /// How many more values may be rewritten: shared parts of a value are rewritten wherever they occur.
    budget: Cell<usize>,
    /// Guards that were rewritten before, by where they stand in the callee's trace.
    known_guards: RefCell<HashMap<*const GuardList, Rc<GuardList>>>,
    /// What the closures among the arguments have done.
    pub(super) handed: RefCell<Handed>,
}

impl Frame<'_, '_> {
    pub(super) fn instantiate(
        &mut self,
        span: Span,
        function: usize,
        args: &[Value],
        receiver: Option<Value>,
    ) -> Value {
        self.note_call(function);
        let entry = self.eval.program.functions[function];
        let facts = entry.function;
        let written = facts.result.as_ref().map(|ty| {
            let ty = self.concrete(ty, facts.owner.as_deref());
            self.eval.program.absolute(entry.scope(), &ty)
        });
        let Some(trace) = self.eval.trace(function) else {
            // Recursion, or a function without a body: nothing is known of it.
            args.iter().for_each(|arg| self.mark(arg, |uses| uses.passed = true));
            self.run_other_closures(args, &[]);
            return Value::made_of(args.iter().chain(receiver.as_ref())).with_type(written);
        };
        self.mark_arguments(&trace, args, receiver.as_ref());
        if self.trace.operations.len() + trace.operations.len() > MAX_OPERATIONS {
            // Too much to carry: saying less is right, carrying a part would mix up replies.
            self.run_other_closures(args, &[]);
            return Value::unknown().with_type(written);
        }
        let arguments = Arguments {
            values: args,
            receiver: receiver.as_ref(),
            operations: self.trace.operations.len(),
            pipelines: self.trace.pipelines.len(),
            tasks: self.trace.tasks.len(),
            self_index: facts.params.len(),
            budget: Cell::new(MAX_REWRITES),
            known_guards: RefCell::default(),
            handed: RefCell::default(),
        };
        self.carry_operations(span, &trace, &arguments);
        if trace.operations.is_empty() {
            self.act(&facts.name);
            args.iter().for_each(|arg| self.pass_handles(arg));
        }
        self.carry_clock_uses(&trace, &arguments);
        self.carry_deadlines(&trace, &arguments);
        self.run_other_closures(args, &trace.closure_runs);
        let mut result = arguments.value(&trace.result, 0);
        if let Some(statement) = super::handed_on::rewritten(&result, written.as_deref(), args) {
            return statement;
        }
        if let Form::Unknown = result.form {
            result.form = Form::Symbol(Symbol::Call(facts.name.as_str().into()));
            result = result.with_arguments(args);
        }
        self.carry_wait(&trace, facts.is_async, &mut result);
        result.with_type(written)
    }

    /// `Self` in a result is the type of the callee's block.
    fn concrete(&self, ty: &crate::facts::rust::Type, owner: Option<&str>) -> crate::facts::rust::Type {
        let mut ty = ty.clone();
        if ty.path.first().is_some_and(|first| first == "Self") && ty.path.len() == 1 {
            ty.path[0] = owner.unwrap_or_default().to_owned();
        }
        ty.args = ty.args.iter().map(|arg| self.concrete(arg, owner)).collect();
        ty
    }

    fn mark_arguments(&mut self, trace: &Trace, args: &[Value], receiver: Option<&Value>) {
        for (index, arg) in args.iter().enumerate() {
            if trace.tested_params.get(index) == Some(&true) {
                self.mark_tested(arg);
            }
        }
        if let Some(receiver) = receiver
            && trace.tested_params.get(trace.tested_params.len().wrapping_sub(1)) == Some(&true)
        {
            self.mark_tested(receiver);
        }
    }

    fn carry_operations(&mut self, span: Span, trace: &Trace, arguments: &Arguments<'_>) {
        let call = self.location(span);
        let tasks = self.trace.tasks.len();
        let kept = self.kept_replies();
        self.carry_tasks(trace, arguments.operations);
        self.trace.pipelines.extend(&trace.pipelines);
        self.pipelines.resize_with(self.trace.pipelines.len(), Default::default);
        let mut runs = trace.closure_runs.iter().peekable();
        for (index, operation) in trace.operations.iter().enumerate() {
            while let Some(run) = runs.next_if(|run| run.position <= index) {
                self.run_handed(span, run, arguments);
            }
            let mut via = Vec::with_capacity(operation.via.len() + 1);
            via.push(call);
            via.extend(operation.via.iter().take(MAX_VIA).copied());
            let guards = arguments.guards(&operation.guards, &self.guards);
            let mut uses = operation.uses;
            // What the callee only compared for its own answer, the caller may look at or not.
            uses.compared &= !uses.returned;
            uses.returned = false;
            let key = arguments.value(&operation.key, 0);
            let action = arguments.action(&operation.action);
            let named_here = super::store::is_shown(&action, &key).then_some(operation.via.len() + 1);
            let given_none = !operation.action.has_no_expiry() && action.has_no_expiry();
            self.trace.operations.push(Operation {
                expiry_from_caller: operation.expiry_from_caller || given_none,
                is_lock: operation.is_lock,
                refusal: operation.refusal,
                advice: operation.advice.clone(),
                kept: kept.iter().copied().chain(arguments.positions(&operation.kept)).collect(),
                named_at: operation.named_at.or(named_here),
                session: session_of(&action).or_else(|| operation.session.clone()),
                action,
                key,
                value: operation.value.as_ref().map(|value| arguments.value(value, 0)),
                location: operation.location,
                via,
                function: operation.function,
                guards,
                pipeline: operation.pipeline.map(|pipeline| pipeline + arguments.pipelines),
                context: crate::resolve::trace::Context {
                    innermost: if operation.repetition.is_none() { self.context.innermost } else { None },
                    ..operation.context.within(&self.context)
                },
                repetition: operation
                    .repetition
                    .as_ref()
                    .map(|known| arguments.repetition(known, self.context.raced)),
                uses,
            });
        }
        runs.for_each(|run| self.run_handed(span, run, arguments));
        self.settle_requests(arguments.operations);
        self.move_task_uses(trace, tasks, arguments);
    }
}

/// The connection that a statement runs on, as the caller calls it.
fn session_of(action: &Action) -> Option<Rc<str>> {
    match action {
        Action::Sql(call) => super::store::root_name(&call.executor),
        _ => None,
    }
}

impl Arguments<'_> {
    /// The callee's guards inside the caller's; far-away ones of long lists say little and are let go.
    pub(super) fn guards(&self, inner: &Rc<GuardList>, outer: &Rc<GuardList>) -> Rc<GuardList> {
        let mut known = self.known_guards.borrow_mut();
        // Operations behind one another share their guards.
        known.entry(Rc::as_ptr(inner)).or_insert_with(|| self.rewritten_guards(inner, outer)).clone()
    }

    fn rewritten_guards(&self, inner: &GuardList, outer: &Rc<GuardList>) -> Rc<GuardList> {
        let own: Vec<(Value, bool)> = inner
            .iter()
            .take(MAX_GUARDS)
            .map(|(condition, holds)| (self.value(condition, 0), *holds))
            .collect();
        own.into_iter()
            .rev()
            .fold(outer.clone(), |outer, guard| Rc::new(GuardList { guard: Some(guard), outer: Some(outer) }))
    }

    fn action(&self, action: &Action) -> Action {
        match action {
            Action::Set { condition, expiry, returns_old } => {
                Action::Set { condition: *condition, expiry: self.expiry(expiry), returns_old: *returns_old }
            }
            Action::Expire { expiry } => Action::Expire { expiry: self.expiry(expiry) },
            Action::Grant { expiry } => Action::Grant { expiry: self.expiry(expiry) },
            Action::Request(request) => Action::Request(Rc::new(self.request(request, 0))),
            Action::Merge(call) => Action::Merge(Rc::new(MergeCall {
                document: self.value(&call.document, 0),
                words: call.words.clone(),
            })),
            Action::Script(call) => Action::Script(Rc::new(ScriptCall {
                source: self.value(&call.source, 0),
                keys: self.values(&call.keys),
                args: self.values(&call.args),
                is_function: call.is_function,
            })),
            // A statement whose text is known is judged where it is written, in the transaction of its callers.
            Action::Sql(call)
                if matches!(call.text.form, Form::Text(_)) && call.text.flows.params.is_empty() =>
            {
                if self.leaves_alone(&call.executor) && call.binds.iter().all(|bind| self.leaves_alone(bind))
                {
                    return Action::Sql(call.clone());
                }
                let (executor, binds) = (self.value(&call.executor, 0), self.values(&call.binds));
                Action::Sql(Rc::new(SqlCall { executor, binds, ..SqlCall::clone(call) }))
            }
            Action::Sql(call) => Action::Sql(Rc::new(SqlCall {
                text: self.value(&call.text, 0),
                binds: self.values(&call.binds),
                executor: self.value(&call.executor, 0),
                method: call.method.clone(),
                file: call.file.clone(),
            })),
            Action::SendPipeline(pipeline) => Action::SendPipeline(pipeline + self.pipelines),
            other => other.clone(),
        }
    }

    fn expiry(&self, expiry: &Expiry) -> Expiry {
        match expiry {
            Expiry::After { millis: None, unit, value } => {
                super::store::lifetime(*unit, self.value(value, 0))
            }
            Expiry::Lease(lease) => Expiry::Lease(Box::new(self.value(lease, 0))),
            Expiry::At(value) => Expiry::At(Box::new(self.value(value, 0))),
            other => other.clone(),
        }
    }

    fn values(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.value(value, 0)).collect()
    }

    /// The value with arguments for parameters. What flowed in from parameters flows in from arguments.
    pub(super) fn value(&self, value: &Value, depth: usize) -> Value {
        if self.leaves_alone(value) {
            return value.clone();
        }
        self.budget.set(self.budget.get().saturating_sub(1));
        if depth > MAX_DEPTH || self.budget.get() == 0 {
            return Value::unknown().with_type(value.ty.clone()).with_flows(&self.flows(&value.flows));
        }
        let form = match &value.form {
            Form::Symbol(Symbol::Param { index, .. }) => {
                let argument = self.argument(*index);
                return match argument {
                    Some(argument) => argument.clone().with_type(value.ty.clone()),
                    None => Value::unknown().with_type(value.ty.clone()),
                };
            }
            Form::Symbol(Symbol::Field { owner, name }) => self.field(owner, name, &value.form),
            Form::Text(pieces) => self.text(pieces, depth),
            Form::Tuple(parts) => Form::Tuple(parts.iter().map(|part| self.value(part, depth + 1)).collect()),
            Form::Document(parts) => {
                Form::Document(parts.iter().map(|part| self.value(part, depth + 1)).collect())
            }
            Form::Variant(name, inner) => {
                Form::Variant(name, inner.as_ref().map(|inner| Rc::new(self.value(inner, depth + 1))))
            }
            Form::Selected(selection) => return self.selection(value, selection, depth + 1),
            Form::Record(record) => Form::Record(Rc::new(Record {
                ty: record.ty.clone(),
                variant: record.variant.clone(),
                fields: record
                    .fields
                    .iter()
                    .map(|(name, field)| (name.clone(), self.value(field, depth + 1)))
                    .collect(),
            })),
            Form::Condition(condition) => Form::Condition(Rc::new(self.condition(condition, depth + 1))),
            Form::Reply(operation, layer) => Form::Reply(self.position(*operation), *layer),
            Form::Outcome(param, layer) => return self.outcome(value, *param, *layer),
            Form::Pipeline(pipeline) => Form::Pipeline(pipeline + self.pipelines),
            Form::Scaled(scaled) => {
                let of = self.value(&scaled.of, depth + 1);
                quantity::of_span(quantity::scaled(&of, scaled.by), value.ty.as_deref())
            }
            Form::Ticker(ticker) => {
                let period = self.value(&ticker.period, depth + 1);
                Form::Ticker(Rc::new(Ticker { location: ticker.location, period }))
            }
            Form::Script(script) => Form::Script(Rc::new(ScriptBuilder {
                source: self.value(&script.source, depth + 1),
                keys: script.keys.iter().map(|key| self.value(key, depth + 1)).collect(),
                args: script.args.iter().map(|arg| self.value(arg, depth + 1)).collect(),
            })),
            Form::Query(query) => Form::Query(Rc::new(QueryBuilder {
                text: self.value(&query.text, depth + 1),
                binds: query.binds.iter().map(|bind| self.value(bind, depth + 1)).collect(),
                location: query.location,
                prepared_on: query.prepared_on.as_ref().map(|on| Box::new(self.value(on, depth + 1))),
                file: query.file.clone(),
            })),
            Form::Chain(chain) => Form::Chain(Rc::new(chain.map(|part| self.value(part, depth + 1)))),
            Form::Transaction(builder) => Form::Transaction(Rc::new(self.transaction(builder, depth + 1))),
            Form::TransactionPart(part) => {
                Form::TransactionPart(Rc::new(self.transaction_part(part, depth + 1)))
            }
            Form::Request(request) => Form::Request(Rc::new(self.request(request, depth + 1))),
            Form::SetOptions(options) => {
                let mut options = options.clone();
                options.expiry = self.expiry(&options.expiry);
                Form::SetOptions(options)
            }
            other => other.clone(),
        };
        let inner = |args: &Rc<[Value]>| args.iter().map(|arg| self.value(arg, depth + 1)).collect();
        let arguments = value.arguments.as_ref().map(inner);
        Value { form, flows: self.flows(&value.flows), ty: value.ty.clone(), arguments }
    }

    /// Where the callee's operation of this number stands in the caller's trace.
    pub(super) fn position(&self, operation: usize) -> usize {
        operation + self.operations + self.handed.borrow().before(operation)
    }

    pub(super) fn positions<'f>(&'f self, operations: &'f Few<usize>) -> impl Iterator<Item = usize> + 'f {
        operations.iter().map(|operation| self.position(*operation))
    }

    /// What the closure that the caller has handed over gave.
    fn outcome(&self, value: &Value, param: usize, layer: Layer) -> Value {
        let flows = self.flows(&value.flows);
        let handed = self.handed.borrow();
        let Some(known) = handed.outcome(param) else { return Value { flows, ..Value::unknown() } };
        let known = if layer == Layer::Result { known.clone() } else { super::bind::unpack("Ok", known) };
        known.with_flows(&flows).with_type(value.ty.clone())
    }

    /// The case that the argument decides for, or all of them.
    fn selection(&self, value: &Value, selection: &Selection, depth: usize) -> Value {
        let by = match &selection.by {
            Selector::Variant(by) => {
                let by = self.value(by, depth);
                if let Some(case) = by.variant().and_then(|variant| selection.case(variant)) {
                    return self.value(case, depth).with_flows(&by.flows);
                }
                Selector::Variant(Box::new(by))
            }
            Selector::Condition => Selector::Condition,
            Selector::Each => Selector::Each,
        };
        let cases =
            selection.cases.iter().map(|(name, case)| (name.clone(), self.value(case, depth))).collect();
        Value::selected(by, cases).with_flows(&self.flows(&value.flows)).with_type(value.ty.clone())
    }

    /// Whether nothing in the value depends on the call.
    fn leaves_alone(&self, value: &Value) -> bool {
        let is_record = matches!(self.receiver.map(|receiver| &receiver.form), Some(Form::Record(_)));
        let hides_parts = matches!(
            value.form,
            Form::Pipeline(_)
                | Form::Command(_)
                | Form::Script(_)
                | Form::Query(_)
                | Form::SetOptions(_)
                | Form::Transaction(_)
                | Form::Request(_)
                | Form::TransactionPart(_)
        );
        let flows = &value.flows;
        !hides_parts
            && flows.params.is_empty()
            && flows.replies.is_empty()
            && flows.tasks.is_empty()
            && flows.monotonic.is_none()
            && (flows.fields.is_empty() || !is_record)
    }

    /// A field of `self`, when the receiver shows it.
    fn field(&self, owner: &Rc<str>, name: &Rc<str>, as_it_is: &Form) -> Form {
        match self.receiver.map(|receiver| &receiver.form) {
            Some(Form::Record(record)) if record.ty == *owner => record
                .fields
                .iter()
                .find(|(field, _)| field == name)
                .map_or_else(|| as_it_is.clone(), |(_, value)| value.form.clone()),
            _ => as_it_is.clone(),
        }
    }

    fn text(&self, pieces: &[Piece], depth: usize) -> Form {
        let mut all = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Piece::Hole(value) => all.extend(self.value(value, depth + 1).pieces()),
                text => all.push(text.clone()),
            }
        }
        Form::Text(all.into())
    }

    fn moment(&self, moment: Moment) -> Moment {
        Moment { position: self.position(moment.position), ..moment }
    }

    pub(super) fn argument(&self, index: usize) -> Option<&Value> {
        if index == self.self_index { self.receiver } else { self.values.get(index) }
    }

    fn flows(&self, flows: &Flows) -> Flows {
        let mut all = Flows {
            replies: self.positions(&flows.replies).collect(),
            tasks: flows.tasks.iter().map(|task| task + self.tasks).collect(),
            params: Few::default(),
            monotonic: flows.monotonic.map(|moment| self.moment(moment)),
            ..flows.clone()
        };
        for &param in &flows.params {
            if let Some(argument) = self.argument(param) {
                all.absorb(&argument.flows);
            }
            if let Some(outcome) = self.handed.borrow().outcome(param) {
                all.absorb(&outcome.flows);
            }
        }
        all
    }

    fn condition(&self, condition: &Condition, depth: usize) -> Condition {
        if depth > MAX_DEPTH {
            return Condition::Opaque(Vec::new());
        }
        let inner = |part: &Value| self.value(part, depth + 1);
        match condition {
            Condition::Equal { equal, left, right } => Condition::Equal {
                equal: *equal,
                left: self.value(left, depth + 1),
                right: self.value(right, depth + 1),
            },
            Condition::Order { operator, left, right } => Condition::Order {
                operator: *operator,
                left: self.value(left, depth + 1),
                right: self.value(right, depth + 1),
            },
            Condition::Holds { value, positive } => {
                Condition::Holds { value: self.value(value, depth + 1), positive: *positive }
            }
            Condition::All(parts) => Condition::All(parts.iter().map(inner).collect()),
            Condition::Any(parts) => Condition::Any(parts.iter().map(inner).collect()),
            Condition::Not(part) => Condition::Not(inner(part)),
            Condition::Opaque(values) => {
                Condition::Opaque(values.iter().map(|value| self.value(value, depth + 1)).collect())
            }
        }
    }
}
