//! Patterns: binding names to parts of a value, and what a match says about the value.

use crate::facts::rust::{ExprKind, Pattern, PatternKind};

use super::Frame;
use crate::resolve::value::{Condition, Form, Layer, Value};

/// The one name that a pattern binds.
pub(super) fn pattern_name(pattern: &Pattern) -> Option<&str> {
    match &pattern.kind {
        PatternKind::Name { name, .. } => Some(name),
        _ => None,
    }
}

impl Frame<'_, '_> {
    pub(super) fn bind(&mut self, pattern: &Pattern, value: Value) {
        match &pattern.kind {
            PatternKind::Name { name, inner } => {
                if let Some(inner) = inner {
                    self.bind(inner, value.clone());
                }
                self.set_local(name, value);
            }
            PatternKind::Variant { path, elements } => {
                let name = path.last().map_or("", String::as_str);
                if value.variant() == Some(name) && matches!(value.form, Form::Record(_)) {
                    for (index, element) in elements.iter().enumerate() {
                        let part = self.field(&value, &index.to_string());
                        self.bind(element, part);
                    }
                    return;
                }
                let inner = unpack(name, &value);
                match elements.as_slice() {
                    [only] => self.bind(only, inner),
                    several => {
                        several.iter().for_each(|element| self.bind(element, Value::made_of([&value])))
                    }
                }
            }
            PatternKind::Struct { fields, .. } => {
                for (name, field) in fields {
                    let part = self.field(&value, name);
                    self.bind(field, part);
                }
            }
            PatternKind::Tuple(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let part = match &value.form {
                        Form::Tuple(parts) if parts.len() == elements.len() => parts[index].clone(),
                        _ => Value::made_of([&value]),
                    };
                    self.bind(element, part);
                }
            }
            PatternKind::Or(cases) => cases.iter().for_each(|case| self.bind(case, value.clone())),
            PatternKind::Wildcard | PatternKind::Value(_) | PatternKind::Other => {}
        }
    }

    /// The condition under which `value` matches the pattern.
    pub(super) fn pattern_condition(&mut self, pattern: &Pattern, value: &Value) -> Value {
        match &pattern.kind {
            PatternKind::Value(expected) => {
                if let ExprKind::Path(path) = &expected.kind
                    && let Some(positive) = polarity(path.last().map_or("", String::as_str))
                {
                    return Value::condition(Condition::Holds { value: value.clone(), positive });
                }
                let right = self.expr(expected);
                Value::condition(Condition::Equal { equal: true, left: value.clone(), right })
            }
            PatternKind::Variant { path, elements } => {
                let name = path.last().map_or("", String::as_str);
                let holds = match polarity(name) {
                    Some(positive) => Condition::Holds { value: value.clone(), positive },
                    None => Condition::Opaque(vec![value.clone()]),
                };
                let Some(inner) = elements.first().filter(|inner| is_refutable(inner)) else {
                    return Value::condition(holds);
                };
                let unpacked = unpack(name, value);
                let inner = self.pattern_condition(inner, &unpacked);
                if matches!(name, "Ok" | "Some") {
                    return inner;
                }
                Value::condition(Condition::All(vec![Value::condition(holds), inner.as_condition()]))
            }
            PatternKind::Name { inner: Some(inner), .. } => self.pattern_condition(inner, value),
            PatternKind::Or(cases) => {
                let cases =
                    cases.iter().map(|case| self.pattern_condition(case, value).as_condition()).collect();
                Value::condition(Condition::Any(cases))
            }
            PatternKind::Tuple(elements) => {
                let mut parts = Vec::new();
                for (index, element) in
                    elements.iter().enumerate().filter(|(_, element)| is_refutable(element))
                {
                    let part = match &value.form {
                        Form::Tuple(parts) if parts.len() == elements.len() => parts[index].clone(),
                        _ => Value::made_of([value]),
                    };
                    parts.push(self.pattern_condition(element, &part).as_condition());
                }
                Value::condition(Condition::All(parts))
            }
            _ => Value::condition(Condition::Opaque(vec![value.clone()])),
        }
    }

    /// What matching against this pattern says of the replies in `value`: `Ok(_)` and `Err(_)` look at the
    /// error alone.
    pub(super) fn mark_pattern(&mut self, pattern: &Pattern, value: &Value) {
        match &pattern.kind {
            PatternKind::Variant { path, elements } if is_result_side(path) => {
                if let Form::Reply(operation, Layer::Result) = value.form {
                    self.trace.mark(operation, |uses| uses.error_tested = true);
                    let inner = unpack("Ok", value);
                    if let Some(element) = elements.first().filter(|inner| is_refutable(inner)) {
                        self.mark_pattern(element, &inner);
                    }
                } else {
                    self.mark_tested(value);
                }
            }
            PatternKind::Name { .. } | PatternKind::Wildcard => {}
            PatternKind::Or(cases) => cases.iter().for_each(|case| self.mark_pattern(case, value)),
            _ => self.mark_tested(value),
        }
    }
}

fn is_result_side(path: &[String]) -> bool {
    matches!(path.last().map(String::as_str), Some("Ok" | "Err"))
}

fn is_refutable(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Value(_) | PatternKind::Variant { .. } | PatternKind::Or(_) => true,
        PatternKind::Name { inner, .. } => inner.is_some(),
        PatternKind::Tuple(elements) => elements.iter().any(is_refutable),
        PatternKind::Struct { .. } => true,
        PatternKind::Wildcard | PatternKind::Other => false,
    }
}

/// Whether a variant of this name says yes or no.
fn polarity(variant: &str) -> Option<bool> {
    match variant {
        "Some" | "Ok" | "Okay" => Some(true),
        "None" | "Err" | "Nil" => Some(false),
        _ => None,
    }
}

/// What a variant of this name holds, when `value` is one.
pub(super) fn unpack(variant: &str, value: &Value) -> Value {
    match (&value.form, variant) {
        (Form::Reply(operation, Layer::Result), "Ok") => {
            Value { form: Form::Reply(*operation, Layer::Success), ..value.clone() }
        }
        (Form::Outcome(param, Layer::Result), "Ok") => {
            Value { form: Form::Outcome(*param, Layer::Success), ..value.clone() }
        }
        (Form::Reply(..), "Some") => value.clone(),
        (Form::Variant(name, Some(inner)), _) if *name == variant => (**inner).clone(),
        // `Ok(x)` and `Some(x)` of an unknown value: the same value, seen from inside.
        (Form::Variant(..), _) => Value::made_of([value]),
        (_, "Ok" | "Some") => value.clone(),
        (_, "Err") => Value::unknown(),
        _ => Value::made_of([value]),
    }
}
