//! Amounts of time: constants, and shares of a value that the text does not show, such as `ttl / 3`.
//!
//! Every span of time is counted in milliseconds, so that `Duration::from_secs(n)` is a thousand times `n`
//! and `ttl.as_secs()` a thousandth of `ttl`. What is no product or share of one value is not followed.

use std::rc::Rc;

use crate::facts::rust::{BinaryOperator, Type};

use super::value::{Form, Scaled, Value};

/// Floating-point factors are taken to this many parts.
const PARTS: i128 = 1_000_000;

/// A factor, as a fraction in lowest terms with a positive denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    pub numerator: i128,
    pub denominator: i128,
}

impl Ratio {
    pub const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };

    pub fn new(numerator: i128, denominator: i128) -> Option<Ratio> {
        if denominator <= 0 {
            return None;
        }
        let divisor = common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
        let divisor = i128::try_from(divisor).ok().filter(|divisor| *divisor > 0)?;
        Some(Ratio { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    pub fn whole(number: i128) -> Ratio {
        Ratio { numerator: number, denominator: 1 }
    }

    fn of_float(factor: f64) -> Option<Ratio> {
        // Beyond this the cast below would not be exact.
        (factor.is_finite() && factor.abs() < 1e12)
            .then(|| Ratio::new((factor * PARTS as f64).round() as i128, PARTS))
            .flatten()
    }

    fn inverse(self) -> Option<Ratio> {
        Ratio::new(self.denominator, self.numerator)
    }

    pub fn times(self, other: Ratio) -> Option<Ratio> {
        Ratio::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    fn of(self, number: i128) -> Option<i128> {
        number.checked_mul(self.numerator).map(|product| product / self.denominator)
    }
}

fn common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The value times a factor; `None` when that says nothing.
pub fn scaled(value: &Value, by: Ratio) -> Option<Value> {
    match &value.form {
        Form::Int(number) => by.of(*number).map(|number| Value::new(Form::Int(number))),
        Form::Duration(millis) => by.of(*millis).map(|millis| Value::new(Form::Duration(millis))),
        Form::Float(number) => {
            let product = number * by.numerator as f64 / by.denominator as f64;
            Some(Value::new(Form::Float(product)))
        }
        Form::Symbol(_) => {
            let scaled = Scaled { of: value.clone(), by };
            Some(Value::new(Form::Scaled(Rc::new(scaled))))
        }
        Form::Scaled(inner) => {
            let scaled = Scaled { of: inner.of.clone(), by: inner.by.times(by)? };
            Some(Value::new(Form::Scaled(Rc::new(scaled))))
        }
        _ => None,
    }
}

/// A span of time of so many units of `unit` milliseconds each.
pub fn span(amount: &Value, unit: i128) -> Option<Value> {
    let span = match &amount.form {
        Form::Int(number) => Value::new(Form::Duration(number.checked_mul(unit)?)),
        Form::Float(number) => Value::new(Form::Duration((number * unit as f64) as i128)),
        _ => scaled(amount, Ratio::whole(unit))?,
    };
    Some(span.with_type(Some(Rc::new(Type::named("Duration")))))
}

/// The number of units of `unit` milliseconds in a span of time.
pub fn count(span: &Value, unit: i128) -> Option<Value> {
    let by = Ratio::new(1, unit)?;
    match &span.form {
        Form::Duration(millis) => by.of(*millis).map(|number| Value::new(Form::Int(number))),
        Form::Symbol(_) | Form::Scaled(_) => {
            scaled(span, by).map(|number| number.with_type(Some(Rc::new(Type::named("u64")))))
        }
        _ => None,
    }
}

/// What a share of a span is where its type says that it counts: so many seconds of a span are a number.
pub fn of_span(share: Option<Value>, ty: Option<&Type>) -> Form {
    let counts = ty.is_some_and(|ty| matches!(ty.name(), "u64" | "u128" | "i64" | "u32" | "usize"));
    match share.map(|share| share.form) {
        Some(Form::Duration(count)) if counts => Form::Int(count),
        Some(form) => form,
        None => Form::Unknown,
    }
}

/// A product or quotient of which one side is a constant.
pub fn arithmetic(operator: BinaryOperator, left: &Value, right: &Value) -> Option<Value> {
    let factor = |value: &Value| match &value.form {
        Form::Int(number) => Some(Ratio::whole(*number)),
        Form::Float(number) => Ratio::of_float(*number),
        _ => None,
    };
    match operator {
        BinaryOperator::Multiply => match (factor(left), factor(right)) {
            (_, Some(by)) => scaled(left, by),
            (Some(by), _) => scaled(right, by),
            _ => None,
        },
        BinaryOperator::Divide => scaled(left, factor(right)?.inverse()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::value::Symbol;

    fn share(value: &Value) -> Option<(i128, i128)> {
        match &value.form {
            Form::Scaled(scaled) => Some((scaled.by.numerator, scaled.by.denominator)),
            _ => None,
        }
    }

    #[test]
    fn shares_of_a_parameter_add_up() {
        let ttl = Value::symbol(Symbol::Local("ttl_secs".into()));
        let third = arithmetic(BinaryOperator::Divide, &ttl, &Value::new(Form::Int(3)));
        let pause = third.and_then(|third| span(&third, 1000));
        assert_eq!(pause.as_ref().and_then(share), Some((1000, 3)));
        let back = pause.and_then(|pause| count(&pause, 1000));
        assert_eq!(back.as_ref().and_then(share), Some((1, 3)));
    }

    #[test]
    fn floats_are_factors() {
        let ttl = Value::new(Form::Duration(30_000));
        let part = arithmetic(BinaryOperator::Multiply, &ttl, &Value::new(Form::Float(0.4)));
        assert!(matches!(part.map(|part| part.form), Some(Form::Duration(12_000))));
    }

    #[test]
    fn nothing_overflows() {
        let huge = Value::new(Form::Duration(i128::MAX));
        assert!(arithmetic(BinaryOperator::Multiply, &huge, &Value::new(Form::Int(2))).is_none());
        assert!(arithmetic(BinaryOperator::Divide, &huge, &Value::new(Form::Int(0))).is_none());
        assert!(Ratio::of_float(f64::NAN).is_none());
    }
}
