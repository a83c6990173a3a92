//! Which function a call runs when its name can mean several: the implementations of a trait, or items
//! under conditions that exclude each other. One that acts on no store (a stub, a map in memory) takes no
//! part; where those that act do different things, none is picked.

use std::mem::discriminant;
use std::rc::Rc;

use crate::facts::Span;

use super::Frame;
use crate::resolve::trace::{Action, Operation, Trace};
use crate::resolve::value::{Form, Value, same_pieces};

impl Frame<'_, '_> {
    /// A call of one of these functions.
    pub(super) fn dispatched(
        &mut self,
        span: Span,
        functions: &[usize],
        args: &[Value],
        receiver: Option<Value>,
    ) -> Value {
        functions.iter().for_each(|&function| self.note_call(function));
        match self.picked(functions) {
            Some(function) => self.instantiate(span, function, args, receiver),
            None => self.one_of_several(functions, args, receiver.as_ref()),
        }
    }

    /// The function that stands for all of them.
    pub(super) fn picked(&self, functions: &[usize]) -> Option<usize> {
        if let [only] = functions {
            return Some(*only);
        }
        let traces: Vec<(usize, Rc<Trace>)> =
            functions.iter().filter_map(|&function| Some((function, self.eval.trace(function)?))).collect();
        let acting: Vec<&(usize, Rc<Trace>)> =
            traces.iter().filter(|(_, trace)| !trace.operations.is_empty()).collect();
        let (first, rest) = acting.split_first()?;
        let alike = rest.iter().all(|other| act_alike(&first.1, &other.1));
        alike.then_some(first.0)
    }

    /// Nothing is known of what is done, and no more of the result than all of them say.
    fn one_of_several(&mut self, functions: &[usize], args: &[Value], receiver: Option<&Value>) -> Value {
        args.iter().for_each(|arg| self.mark(arg, |uses| uses.passed = true));
        self.run_other_closures(args, &[]);
        let mut all = functions.iter().filter_map(|&function| {
            let entry = self.eval.program.functions[function];
            let result = entry.function.result.as_ref()?;
            Some(self.eval.program.absolute(entry.scope(), result))
        });
        let first = all.next().filter(|first| all.all(|other| other == *first));
        let mut value = Value::made_of(args.iter().chain(receiver)).with_type(first);
        // A trait that stands for the clock has another implementation for tests.
        let traces = functions.iter().filter_map(|&function| self.eval.trace(function));
        let mut read = traces.filter(|trace| trace.operations.is_empty());
        value.flows.wall_clock =
            value.flows.wall_clock.or(read.find_map(|trace| trace.result.flows.wall_clock));
        value
    }
}

fn act_alike(left: &Trace, right: &Trace) -> bool {
    left.operations.len() == right.operations.len()
        && left.operations.iter().zip(&right.operations).all(|(left, right)| is_same_act(left, right))
}

fn is_same_act(left: &Operation, right: &Operation) -> bool {
    let same_action = match (&left.action, &right.action) {
        (Action::Set { condition: a, .. }, Action::Set { condition: b, .. })
        | (Action::Delete { condition: a }, Action::Delete { condition: b }) => a == b,
        (Action::Script(a), Action::Script(b)) => same_pieces(&a.source.pieces(), &b.source.pieces()),
        (Action::Sql(a), Action::Sql(b)) => match (&a.text.form, &b.text.form) {
            // Each is put together where it is written.
            (Form::Chain(_), _) | (_, Form::Chain(_)) => false,
            _ => same_pieces(&a.text.pieces(), &b.text.pieces()),
        },
        (a, b) => discriminant(a) == discriminant(b),
    };
    same_action && is_same_key(&left.key, &right.key)
}

fn is_same_key(left: &Value, right: &Value) -> bool {
    match (&left.form, &right.form) {
        (Form::Symbol(a), Form::Symbol(b)) => a == b,
        _ => same_pieces(&left.pieces(), &right.pieces()),
    }
}
