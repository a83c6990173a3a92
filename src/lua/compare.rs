//! What comparisons of values prove about ownership.

use super::tree::Operator;
use super::value::{Condition, Fact, Reply, Value, identifies, over_choices};
use crate::facts::Span;
use crate::facts::lua::{Operand, OwnerGuard};

/// `left == right`, written at `span`.
pub(super) fn equal(left: &Value, right: &Value, span: Span) -> Condition {
    match (left, right) {
        (Value::Choice(all), other) | (other, Value::Choice(all)) => {
            over_choices(all, |v| equal(v, other, span))
        }
        (Value::Several(_), other) => equal(&left.clone().first(), other, span),
        (other, Value::Several(_)) => equal(other, &right.clone().first(), span),
        (Value::Reply(reply), other) | (other, Value::Reply(reply)) => reply_equals(reply, other, span),
        (Value::Count { one, zero }, Value::Operand(Operand::Number(n)))
        | (Value::Operand(Operand::Number(n)), Value::Count { one, zero }) => match n {
            1 => Condition::proves(one.clone(), zero.clone()),
            0 => Condition::proves(zero.clone(), one.clone()),
            _ => Condition::OPEN,
        },
        (Value::Boolean(condition), other) | (other, Value::Boolean(condition)) => {
            boolean_equals(condition, other)
        }
        (Value::Nil, Value::Nil) => Condition::constant(true),
        (Value::Operand(a), Value::Operand(b)) if is_constant(a) && is_constant(b) => {
            Condition::constant(a == b)
        }
        (Value::Nil, Value::Operand(o)) | (Value::Operand(o), Value::Nil) if is_constant(o) => {
            Condition::constant(false)
        }
        _ => Condition::OPEN,
    }
}

/// `left < right` and its family.
pub(super) fn ordered(operator: Operator, left: &Value, right: &Value) -> Condition {
    let (count, number, operator) = match (left, right) {
        (Value::Count { .. }, Value::Operand(Operand::Number(n))) => (left, *n, operator),
        (Value::Operand(Operand::Number(n)), Value::Count { .. }) => (right, *n, mirrored(operator)),
        _ => return Condition::OPEN,
    };
    match (operator, number) {
        (Operator::Greater, 0) | (Operator::GreaterOrEqual, 1) => equal(count, &one(), Span::default()),
        (Operator::Less, 1) | (Operator::LessOrEqual, 0) => equal(count, &one(), Span::default()).negated(),
        _ => Condition::OPEN,
    }
}

fn one() -> Value {
    Value::Operand(Operand::Number(1))
}

fn mirrored(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        other => other,
    }
}

fn reply_equals(reply: &Reply, other: &Value, span: Span) -> Condition {
    match other {
        Value::Nil => Condition::proves(reply.absent.clone(), reply.present.clone()),
        Value::Boolean(c) if *c == Condition::constant(false) => {
            Condition::proves(reply.absent.clone(), reply.present.clone())
        }
        Value::Operand(operand) => {
            let mut yes = reply.present.clone();
            // What the text does not show may well be the owner.
            let may_identify = identifies(operand) || *operand == Operand::Unknown;
            if let Some(key) = &reply.stored
                && may_identify
                && operand != key
            {
                yes.push(Fact::Mine(OwnerGuard { key: key.clone(), against: operand.clone(), span }));
            }
            Condition::proves(yes, Vec::new())
        }
        // The owner stands in another record, such as the job that the lock belongs to.
        Value::Reply(record) if record.stored != reply.stored => {
            let mut yes = reply.present.clone();
            for key in [&reply.stored, &record.stored].into_iter().flatten() {
                let guard = OwnerGuard { key: key.clone(), against: Operand::Unknown, span };
                yes.push(Fact::Mine(guard));
            }
            Condition::proves(yes, Vec::new())
        }
        _ => Condition::OPEN,
    }
}

fn boolean_equals(condition: &Condition, other: &Value) -> Condition {
    match other {
        Value::Boolean(c) if *c == Condition::constant(true) => condition.clone(),
        Value::Boolean(c) if *c == Condition::constant(false) => condition.clone().negated(),
        Value::Boolean(c) if *condition == Condition::constant(true) => c.clone(),
        Value::Boolean(c) if *condition == Condition::constant(false) => c.clone().negated(),
        Value::Operand(o) if is_constant(o) => Condition::constant(false),
        Value::Nil => Condition::constant(false),
        _ => Condition::OPEN,
    }
}

fn is_constant(operand: &Operand) -> bool {
    matches!(operand, Operand::Text(_) | Operand::Number(_))
}
