//! The values that a call gives to a statement's parameters: by position (`&[&a, &b]`, `params![a, b]`) or by
//! name (`params! { "a" => a }`, `named_params! { ":a": a }`, `&[(":a", &a)]`). A value that is bound by name is
//! a pair of the name and the value.

use crate::facts::rust::{Expr, ExprKind, MacroCall};

use super::Frame;
use crate::resolve::value::{Form, Piece, Value};

/// What may stand in front of a parameter's name in Rust.
const SIGILS: &[char] = &[':', '@', '$'];

impl Frame<'_, '_> {
    pub(super) fn bind_values(&mut self, query: &Value, expr: &Expr) -> Vec<Value> {
        match &expr.kind {
            ExprKind::Borrow(inner) => self.bind_values(query, inner),
            ExprKind::Array(parts) | ExprKind::Tuple(parts) => {
                parts.iter().map(|part| self.element(query, part)).collect()
            }
            ExprKind::Macro(call) => self.macro_values(query, call),
            _ => match self.expr(expr) {
                Value { form: Form::Tuple(parts), .. } => {
                    parts.iter().map(|part| as_parameter(query, part)).collect()
                }
                value => vec![value],
            },
        }
    }

    /// `(":a", &a)` is one parameter of that name.
    fn element(&mut self, query: &Value, part: &Expr) -> Value {
        let value = self.expr(part);
        as_parameter(query, &value)
    }

    fn macro_values(&mut self, query: &Value, call: &MacroCall) -> Vec<Value> {
        let mut values = Vec::new();
        let mut args = call.args.iter().peekable();
        while let Some(arg) = args.next() {
            // `"a" => a` and `":a": a` come as two arguments, the name first.
            if let ExprKind::Text(name) = &arg.kind
                && has_parameter(query, &name.value)
                && let Some(value) = args.next_if(|next| !is_name(query, next))
            {
                let value = self.expr(value);
                values.push(named_parameter(&name.value, value));
                continue;
            }
            let value = self.element(query, arg);
            // `params! { topic }`: the variable's name is the parameter's.
            values.push(match &arg.kind {
                ExprKind::Path(path) if path.len() == 1 && has_parameter(query, &path[0]) => {
                    named_parameter(&path[0], value)
                }
                _ => value,
            });
        }
        values
    }
}

fn is_name(query: &Value, arg: &Expr) -> bool {
    matches!(&arg.kind, ExprKind::Text(name) if has_parameter(query, &name.value))
}

fn as_parameter(query: &Value, value: &Value) -> Value {
    match &value.form {
        Form::Tuple(pair) if pair.len() == 2 => match pair[0].as_text() {
            Some(name) if has_parameter(query, &name) => named_parameter(&name, pair[1].clone()),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

fn named_parameter(name: &str, value: Value) -> Value {
    Value::new(Form::Tuple([Value::text(name.trim_start_matches(SIGILS)), value].into()))
}

/// Whether a statement has a parameter of this name.
fn has_parameter(query: &Value, name: &str) -> bool {
    let name = name.trim_start_matches(SIGILS);
    let names = |text: &str| {
        text.split(SIGILS).skip(1).any(|rest| {
            rest.strip_prefix(name)
                .is_some_and(|end| !end.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    let Form::Text(pieces) = &query.form else { return false };
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_word && pieces.iter().any(|piece| matches!(piece, Piece::Text { text, .. } if names(text)))
}
