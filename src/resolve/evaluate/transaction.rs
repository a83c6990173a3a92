//! Conditional transactions, such as `Txn::new().when([…]).and_then([…])`: putting them together, and what one
//! does to each key when it is sent. What its parts are called is in the client models.

use std::rc::Rc;

use crate::facts::Span;

use super::Frame;
use crate::resolve::models::{Compared, TransactionMethod};
use crate::resolve::value::{
    Form, Piece, Symbol, TransactionBuilder, TransactionPart, Value, WriteCondition,
};

/// The arguments of a comparison: the key, the operator, what the key is compared with.
const OPERATOR: usize = 1;
const OTHER: usize = 2;

impl Frame<'_, '_> {
    /// Functions that make a transaction or a part of one.
    pub(super) fn transaction_call(&self, path: &[String], args: &[Value]) -> Option<Value> {
        let models = self.eval.models;
        if models.makes_transaction(path) {
            return Some(Value::new(Form::Transaction(Rc::default())));
        }
        let part = if let Some(of) = models.comparison(path) {
            TransactionPart::Condition {
                key: Box::new(args.first()?.clone()),
                condition: condition(of, args),
            }
        } else {
            let command = Rc::new(models.step(path)?.clone());
            TransactionPart::Step { command, args: args.to_vec() }
        };
        let parts = Value::made_of(args);
        Some(Value::new(Form::TransactionPart(Rc::new(part))).with_flows(&parts.flows))
    }

    pub(super) fn conditional_method(
        &mut self,
        transaction: &TransactionBuilder,
        method: &str,
        args: &[Value],
    ) -> Value {
        let mut next = transaction.clone();
        match self.eval.models.transaction_method(method) {
            Some(TransactionMethod::Conditions) => next.conditions.extend(super::command::flattened(args)),
            Some(TransactionMethod::Steps) => next.steps.extend(super::command::flattened(args)),
            None => {}
        }
        let parts = Value::made_of(next.conditions.iter().chain(&next.steps));
        Value::new(Form::Transaction(Rc::new(next))).with_flows(&parts.flows)
    }

    /// Writes down what a transaction does to each key, under what it asks of that key.
    pub(super) fn send_transaction(&mut self, span: Span, transaction: &Value) -> Option<Value> {
        let Form::Transaction(transaction) = &transaction.form else { return None };
        let transaction = transaction.clone();
        let mut reply: Option<Value> = None;
        for step in &transaction.steps {
            let Form::TransactionPart(part) = &step.form else { continue };
            let TransactionPart::Step { command, args } = &**part else { continue };
            let Some(key) = command.key.and_then(|at| args.get(at)) else { continue };
            // What is asked of another key guards this one in a way that is not followed.
            let Some(condition) = condition_on(key, &transaction.conditions) else { continue };
            let Some(action) = super::store::action(command, args, condition) else { continue };
            let value = super::store::stored_value(command, args);
            let location = self.location(span);
            let made = self.emit_modelled(location, command, action, key.clone(), value, None);
            reply = Some(match reply {
                Some(first) => first.with_flows(&made.flows),
                None => made,
            });
        }
        Some(reply.unwrap_or_else(|| Value::made_of(transaction.conditions.iter().chain(&transaction.steps))))
    }
}

/// What a comparison asks for.
fn condition(of: Compared, args: &[Value]) -> WriteCondition {
    let is_equal = matches!(
        args.get(OPERATOR).map(|operator| &operator.form),
        Some(Form::Symbol(Symbol::Call(name))) if name.ends_with("::Equal") || &**name == "Equal"
    );
    match of {
        Compared::Value if is_equal => WriteCondition::IfEqual,
        Compared::Revision if is_equal && args.get(OTHER).and_then(Value::as_int) == Some(0) => {
            WriteCondition::IfAbsent
        }
        _ => WriteCondition::IfUnchanged,
    }
}

/// What the conditions ask of a key; `None` when they are about other keys only, or cannot be told.
fn condition_on(key: &Value, conditions: &[Value]) -> Option<WriteCondition> {
    if conditions.is_empty() {
        return Some(WriteCondition::Always);
    }
    let mut found = None;
    for part in conditions {
        let Form::TransactionPart(part) = &part.form else { return None };
        let TransactionPart::Condition { key: asked, condition } = &**part else { return None };
        if is_same(key, asked) && found != Some(WriteCondition::IfAbsent) {
            found = Some(*condition);
        }
    }
    found
}

/// Whether two keys are certainly the same.
fn is_same(left: &Value, right: &Value) -> bool {
    let (left, right) = (left.pieces(), right.pieces());
    left.len() == right.len()
        && left.iter().zip(&right).all(|pair| match pair {
            (Piece::Text { text: a, .. }, Piece::Text { text: b, .. }) => a == b,
            (Piece::Hole(a), Piece::Hole(b)) => match (&a.form, &b.form) {
                (Form::Symbol(a), Form::Symbol(b)) => a == b,
                (Form::Int(a), Form::Int(b)) => a == b,
                (Form::Unknown, Form::Unknown) => a.flows == b.flows && a.flows != Default::default(),
                _ => false,
            },
            _ => false,
        })
}
