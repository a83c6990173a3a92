//! Requests to a store as the code puts them together: commands, scripts, queries and transactions, and the
//! options of a SET. What they do is told by the client models.

use std::rc::Rc;

use super::models::Command;
use super::value::Value;
use crate::facts::Location;

#[derive(Debug, Clone, Default)]
pub struct CommandBuilder {
    pub args: Vec<Value>,
    /// From the command's name to the last argument.
    pub location: Option<Location>,
}

/// The options of a SET, as builders make them.
#[derive(Debug, Clone, Default)]
pub struct SetOptions {
    pub condition: WriteCondition,
    pub expiry: Expiry,
    pub returns_old: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteCondition {
    #[default]
    Always,
    IfAbsent,
    IfPresent,
    /// Only while the stored value equals a given one.
    IfEqual,
    /// Only while nobody has written it since it was read.
    IfUnchanged,
}

/// A request over HTTP.
#[derive(Debug, Clone, Default)]
pub struct HttpRequest {
    /// Such as `Method::PUT`, or the name of the method that began it.
    pub method: Value,
    pub url: Value,
    /// Parameters of its query that are not in the URL.
    pub query: Vec<(Value, Value)>,
    pub body: Option<Value>,
}

/// The lifetime that an operation gives a key.
#[derive(Debug, Clone, Default)]
pub enum Expiry {
    #[default]
    None,
    /// In milliseconds where it folds to a number; `unit` is what a plain number counts, in milliseconds.
    After {
        millis: Option<i128>,
        unit: i128,
        value: Box<Value>,
    },
    /// That of a lease, or a session, which it is tied to.
    Lease(Box<Value>),
    /// At a moment of somebody's clock.
    At(Box<Value>),
    /// The lifetime that the key has.
    Keep,
    Unknown,
}

impl Expiry {
    pub fn is_none(&self) -> bool {
        matches!(self, Expiry::None)
    }
}

#[derive(Debug, Clone, Default)]
pub struct ScriptBuilder {
    pub source: Value,
    pub keys: Vec<Value>,
    pub args: Vec<Value>,
}

#[derive(Debug, Clone, Default)]
pub struct QueryBuilder {
    pub text: Value,
    pub binds: Vec<Value>,
    /// Where the query was made.
    pub location: Option<Location>,
    /// The connection that it was prepared on, where a statement is an object of its own.
    pub prepared_on: Option<Box<Value>>,
    /// The text is read from this file, named relative to the package (`query_file!`).
    pub file: Option<Rc<str>>,
}

/// What is done in one step when all conditions hold.
#[derive(Debug, Clone, Default)]
pub struct TransactionBuilder {
    pub conditions: Vec<Value>,
    pub steps: Vec<Value>,
}

impl QueryBuilder {
    /// The query that one of two paths has put together, as far as they agree.
    pub fn either(&self, other: &Self) -> Self {
        let longer = if self.binds.len() < other.binds.len() { other } else { self };
        Self { text: Value::either(&self.text, &other.text), ..longer.clone() }
    }
}

#[derive(Debug)]
pub enum TransactionPart {
    Condition { key: Box<Value>, condition: WriteCondition },
    Step { command: Rc<Command>, args: Vec<Value> },
}
