//! Closures and functions handed to own functions: the callee writes down where it runs them and on what,
//! and each caller runs its own there, between the callee's operations and under the callee's conditions.
//! So what `with_lock(key, || …)` does is seen while the lock is held.

use std::collections::BTreeMap;

use crate::facts::Span;
use crate::facts::rust::{Type, TypeForm};

use super::Frame;
use super::instantiate::Arguments;
use crate::resolve::trace::{ClosureRun, Trace};
use crate::resolve::value::{Form, Layer, Symbol, Value};

/// How many places of one function run closures that it is given.
const MAX_RUNS: usize = 8;

/// How many closures one function may have run by others: closures inside closures multiply.
pub(super) const MAX_HANDED: usize = 256;

/// Traits of what can be called.
const CALLABLE: &[&str] = &["Fn", "FnMut", "FnOnce", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"];

/// What running the closures among the arguments of one call has led to so far.
#[derive(Default)]
pub(super) struct Handed {
    /// The operations put between those of the callee: before which one, and how many.
    inserted: Vec<(usize, usize)>,
    /// What the closures gave, by parameter.
    outcomes: BTreeMap<usize, Value>,
}

impl Handed {
    /// How many operations of closures stand before the callee's operation of this number.
    pub(super) fn before(&self, operation: usize) -> usize {
        self.inserted.iter().filter(|(at, _)| *at <= operation).map(|(_, count)| count).sum()
    }

    pub(super) fn outcome(&self, param: usize) -> Option<&Value> {
        self.outcomes.get(&param)
    }
}

impl Frame<'_, '_> {
    /// A call of a parameter, or of something that is given it to run: what runs is known to the callers.
    pub(super) fn run_param(&mut self, callee: &Value, args: &[Value]) -> Option<Value> {
        let Form::Symbol(Symbol::Param { index, .. }) = callee.form else { return None };
        if self.trace.closure_runs.len() < MAX_RUNS {
            self.trace.closure_runs.push(ClosureRun {
                param: index,
                args: args.to_vec(),
                guards: self.guards.clone(),
                context: self.context,
                position: self.trace.operations.len(),
            });
        }
        let given = Value::made_of(args);
        Some(Value::new(Form::Outcome(index, Layer::Result)).with_flows(&given.flows))
    }

    /// Runs what the caller has put into a parameter where the callee runs that.
    pub(super) fn run_handed(&mut self, span: Span, run: &ClosureRun, arguments: &Arguments<'_>) {
        let Some(handed) = arguments.argument(run.param).cloned() else { return };
        let args: Vec<Value> = run.args.iter().map(|arg| arguments.value(arg, 0)).collect();
        let before = self.trace.operations.len();
        let (guards, context) = (self.guards.clone(), self.context);
        self.guards = arguments.guards(&run.guards, &guards);
        self.context = run.context.within(&context);
        let outcome = self.run_as_handed(span, &handed, &args);
        self.guards = guards;
        self.context = context;
        let Some(outcome) = outcome else { return };
        // The function that runs it gets its result.
        self.mark(&outcome, |uses| uses.passed = true);
        let mut known = arguments.handed.borrow_mut();
        known.inserted.push((run.position, self.trace.operations.len() - before));
        let outcome = match known.outcomes.get(&run.param) {
            Some(other) => Value::either(other, &outcome),
            None => outcome,
        };
        known.outcomes.insert(run.param, outcome);
    }

    fn run_as_handed(&mut self, span: Span, handed: &Value, args: &[Value]) -> Option<Value> {
        match &handed.form {
            Form::Symbol(Symbol::Param { .. }) => self.run_param(handed, args),
            Form::Closure(_) | Form::Function(_) if self.handed_left == 0 => None,
            Form::Closure(closure) => {
                self.handed_left -= 1;
                let closure = closure.clone();
                Some(self.run_closure(&closure, args))
            }
            Form::Function(function) => {
                self.handed_left -= 1;
                Some(self.instantiate(span, *function, args, None))
            }
            _ => None,
        }
    }

    /// Closures that the callee hands on to code that is not followed are taken to run at the end of it.
    pub(super) fn run_other_closures(&mut self, args: &[Value], runs: &[ClosureRun]) {
        for (index, arg) in args.iter().enumerate() {
            if let Form::Closure(closure) = &arg.form
                && !runs.iter().any(|run| run.param == index)
            {
                let closure = closure.clone();
                let result = self.run_closure(&closure, &[]);
                self.mark(&result, |uses| uses.passed = true);
            }
        }
    }

    /// Puts the uses of the callee's tasks, whose first one is `first`, behind what closures have done.
    pub(super) fn move_task_uses(&mut self, trace: &Trace, first: usize, arguments: &Arguments<'_>) {
        let tasks = self.trace.tasks.iter_mut().skip(first);
        for (task, own) in tasks.zip(&trace.tasks) {
            for (seen, own) in task.uses.iter_mut().zip(&own.uses) {
                seen.position = arguments.position(own.position);
            }
        }
    }
}

/// What one of these arguments is told to run by code that is not followed.
pub(super) fn is_callable(value: &Value) -> bool {
    matches!(value.form, Form::Symbol(Symbol::Param { .. })) && value.ty.as_deref().is_some_and(says_callable)
}

fn says_callable(ty: &Type) -> bool {
    ty.kind == TypeForm::Function
        || CALLABLE.contains(&ty.name())
        || (ty.kind != TypeForm::Path || matches!(ty.name(), "Box" | "Arc" | "Rc"))
            && ty.args.iter().any(says_callable)
}
