//! Chains of builder calls: what a chain begins with, and the calls on it in their order. A chain may be
//! spread over variables and branches; what its calls mean to a statement is not its concern.

use std::rc::Rc;

use crate::facts::Location;

use super::program::TableId;
use super::value::{Form, Value};

/// Longer chains are not of a person's making.
const MAX_CALLS: usize = 128;

/// The call by which a field of a row is given a value.
pub const SET_FIELD: &str = "=";

#[derive(Debug, Clone)]
pub struct Chain {
    pub start: Start,
    /// Where it begins.
    pub location: Location,
    pub calls: Vec<Call>,
}

/// What a chain begins with.
#[derive(Debug, Clone)]
pub enum Start {
    Table(TableId),
    /// A column, by its table and position there; several where a name may mean columns of several tables.
    Column(Rc<[(TableId, usize)]>),
    /// A row that is to be written.
    Row(TableId),
    /// A call of a builder's function.
    Function {
        name: Rc<str>,
        args: Vec<Value>,
    },
}

#[derive(Debug, Clone)]
pub struct Call {
    /// The method, or the sign of an operator.
    pub method: Rc<str>,
    pub args: Vec<Value>,
    pub location: Location,
    /// Only some ways through the code make it.
    pub is_conditional: bool,
}

impl Chain {
    pub fn new(start: Start, location: Location) -> Self {
        Self { start, location, calls: Vec::new() }
    }

    /// With one call more; `None` beyond any reasonable length.
    pub fn then(&self, method: &str, args: &[Value], location: Location) -> Option<Self> {
        let mut next = self.clone();
        let call = Call { method: method.into(), args: args.to_vec(), location, is_conditional: false };
        next.calls.push(call);
        (next.calls.len() <= MAX_CALLS).then_some(next)
    }

    pub fn into_value(self) -> Value {
        Value::new(Form::Chain(Rc::new(self)))
    }

    /// The values that its calls were given.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let first = match &self.start {
            Start::Function { args, .. } => args.as_slice(),
            _ => &[],
        };
        first.iter().chain(self.calls.iter().flat_map(|call| &call.args))
    }

    /// The same chain of other values.
    pub fn map(&self, change: impl Fn(&Value) -> Value) -> Self {
        let all = |values: &[Value]| values.iter().map(&change).collect();
        let start = match &self.start {
            Start::Function { name, args } => Start::Function { name: name.clone(), args: all(args) },
            other => other.clone(),
        };
        let calls = self.calls.iter().map(|call| Call { args: all(&call.args), ..call.clone() }).collect();
        Self { start, location: self.location, calls }
    }

    /// Whether a builder's function of this prefix begins it, such as `Query::`.
    pub fn begins_with(&self, prefix: &str) -> bool {
        matches!(&self.start, Start::Function { name, .. } if name.starts_with(prefix))
    }

    /// Whether it can be run, as it stands or with calls to come.
    pub fn is_statement(&self) -> bool {
        const VERBS: &[&str] = &["update", "delete", "insert_into", "replace_into", "insert_or_ignore_into"];
        match &self.start {
            Start::Table(_) | Start::Row(_) => true,
            Start::Column(_) => false,
            Start::Function { name, .. } => VERBS.contains(&&**name) || name.starts_with("Query::"),
        }
    }

    pub fn is_same_start(&self, other: &Self) -> bool {
        self.location == other.location
    }

    /// What two branches made of one chain: the calls of both, those of one branch alone as conditional.
    pub fn either(&self, other: &Self) -> Value {
        let is_same = |pair: &(&Call, &Call)| pair.0.location == pair.1.location;
        let shared = self.calls.iter().zip(&other.calls).take_while(is_same).count();
        let mut calls = self.calls[..shared].to_vec();
        for (mine, its) in calls.iter_mut().zip(&other.calls) {
            mine.is_conditional |= its.is_conditional;
        }
        let rest = self.calls[shared..].iter().chain(&other.calls[shared..]);
        calls.extend(rest.map(|call| Call { is_conditional: true, ..call.clone() }));
        calls.truncate(MAX_CALLS);
        Self { start: self.start.clone(), location: self.location, calls }.into_value()
    }
}
