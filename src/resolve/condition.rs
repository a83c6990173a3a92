//! Conditions: what holds when a value says yes, and what is known of other values then.

use super::value::{Flows, Form, Value};
use crate::facts::rust::BinaryOperator;

#[derive(Debug)]
pub enum Condition {
    /// Two values compared for equality (`equal`) or inequality.
    Equal {
        equal: bool,
        left: Value,
        right: Value,
    },
    /// Compared for order.
    Order {
        operator: BinaryOperator,
        left: Value,
        right: Value,
    },
    /// `is_some()`, `Some(_)`, `Ok(true)`, a plain boolean: the value says yes (or, negated, no).
    Holds {
        value: Value,
        positive: bool,
    },
    All(Vec<Value>),
    Any(Vec<Value>),
    Not(Value),
    Opaque(Vec<Value>),
}

impl Condition {
    pub fn absorb_into(&self, flows: &mut Flows) {
        match self {
            Condition::Equal { left, right, .. } | Condition::Order { left, right, .. } => {
                flows.absorb(&left.flows);
                flows.absorb(&right.flows);
            }
            Condition::Holds { value, .. } => flows.absorb(&value.flows),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| flows.absorb(&part.flows));
            }
            Condition::Not(inner) => flows.absorb(&inner.flows),
            Condition::Opaque(values) => values.iter().for_each(|value| flows.absorb(&value.flows)),
        }
    }

    /// Calls `visit` with every comparison for equality that is known to hold, or not to hold, when the
    /// whole condition is `holds`; `visit` gets the two sides and whether they are equal.
    pub fn known_equalities(&self, holds: bool, visit: &mut dyn FnMut(&Value, &Value, bool)) {
        match self {
            Condition::Equal { equal, left, right } => visit(left, right, *equal == holds),
            Condition::All(parts) if holds => {
                parts.iter().for_each(|part| part.known_equalities(true, visit))
            }
            Condition::Any(parts) if !holds => {
                parts.iter().for_each(|part| part.known_equalities(false, visit))
            }
            Condition::All(parts) | Condition::Any(parts) if parts.len() == 1 => {
                parts.iter().for_each(|part| part.known_equalities(holds, visit));
            }
            Condition::Not(inner) => inner.known_equalities(!holds, visit),
            // `taken.is_some_and(|v| v == me)`: the inner condition is behind the positive answer.
            Condition::Holds { value, positive } => {
                if let Form::Condition(inner) = &value.form {
                    inner.known_equalities(*positive == holds, visit);
                }
            }
            _ => {}
        }
    }

    /// Calls `visit` with every value whose positive (or negative) answer is known.
    pub fn known_answers(&self, holds: bool, visit: &mut dyn FnMut(&Value, bool)) {
        match self {
            Condition::Holds { value, positive } => visit(value, *positive == holds),
            Condition::All(parts) if holds => parts.iter().for_each(|part| part.known_answers(true, visit)),
            Condition::Any(parts) if !holds => parts.iter().for_each(|part| part.known_answers(false, visit)),
            Condition::Not(inner) => inner.known_answers(!holds, visit),
            Condition::Equal { equal, left, right } => {
                let same = *equal == holds;
                for (side, other) in [(left, right), (right, left)] {
                    if let Some(answer) = affirmation(other) {
                        visit(side, same == answer);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether equality with this constant means yes (`Some("OK")`, `true`, 1) or no (`false`, 0, `None`).
fn affirmation(constant: &Value) -> Option<bool> {
    match &constant.form {
        Form::Bool(yes) => Some(*yes),
        Form::Int(number) => Some(*number > 0),
        Form::Text(_) => match constant.as_text()?.to_ascii_lowercase().as_str() {
            "ok" | "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        Form::Variant("None" | "Err", _) => Some(false),
        Form::Variant(_, Some(inner)) => affirmation(inner),
        _ => None,
    }
}
