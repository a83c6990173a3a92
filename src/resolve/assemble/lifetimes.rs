//! Lifetimes: spans of time as the evaluator knows them, with what was lost on their way into a command.

use crate::locks::{Damage, Lifetime, Share};
use crate::resolve::quantity::Ratio;

use super::super::evaluate::{Evaluator, unit_of_name};
use super::super::value::{Form, Symbol, TimeUnit, Value};
use super::keys::field_values;

/// Milliseconds in a second.
const SECOND: i128 = 1000;

/// A span of time; plain numbers count `unit` milliseconds each.
pub fn lifetime(evaluator: &Evaluator<'_>, value: &Value, unit: i128) -> Lifetime {
    Lifetime { damage: damage(value, unit), counted: value.flows.counted, ..length(evaluator, value, unit) }
}

fn length(evaluator: &Evaluator<'_>, value: &Value, unit: i128) -> Lifetime {
    let (of, by) = match &value.form {
        Form::Duration(millis) => return in_millis(Some(*millis)),
        Form::Int(number) => return in_millis(number.checked_mul(unit)),
        Form::Scaled(scaled) => (scaled.of.clone(), scaled.by),
        Form::Symbol(_) => (value.clone(), Ratio::ONE),
        _ => {
            let number = value.as_text().and_then(|text| text.parse::<i128>().ok());
            return in_millis(number.and_then(|number| number.checked_mul(unit)));
        }
    };
    let unit = if is_span(value) { 1 } else { unit };
    let Some(by) = by.times(Ratio::whole(unit)) else { return Lifetime::UNKNOWN };
    let millis = by_default(evaluator, &of)
        .and_then(|whole| whole.checked_mul(by.numerator))
        .map(|n| n / by.denominator);
    let share = name(&of).map(|of| Share { of, numerator: by.numerator, denominator: by.denominator });
    Lifetime { millis, share, ..Lifetime::UNKNOWN }
}

fn in_millis(millis: Option<i128>) -> Lifetime {
    Lifetime { millis, ..Lifetime::UNKNOWN }
}

fn damage(value: &Value, unit: i128) -> Option<Damage> {
    let flows = &value.flows;
    let said = match &value.form {
        Form::Int(_) => flows.unit,
        Form::Symbol(_) if is_span(value) => return None,
        Form::Symbol(symbol) => flows.unit.or_else(|| unit_of_name(symbol.name())),
        Form::Scaled(scaled) => {
            if is_span(value) {
                return None;
            }
            // `ttl.as_secs()` and `ttl_ms / 1000`.
            if scaled.by.denominator >= SECOND && unit == SECOND {
                return Some(Damage::Cut);
            }
            flows.unit
        }
        _ => return None,
    };
    match said {
        Some(TimeUnit::Seconds) if unit == 1 => return Some(Damage::SecondsAsMilliseconds),
        Some(TimeUnit::Milliseconds) if unit == SECOND => return Some(Damage::MillisecondsAsSeconds),
        _ => {}
    }
    if flows.cut {
        return Some(Damage::Cut);
    }
    (flows.narrowed && !matches!(value.form, Form::Int(_))).then_some(Damage::Narrowed)
}

fn is_span(value: &Value) -> bool {
    let spans = ["Duration", "TimeDelta", "SignedDuration", "Interval"];
    value
        .ty
        .as_ref()
        .is_some_and(|ty| spans.contains(&ty.name()) || ty.args.iter().any(|arg| spans.contains(&arg.name())))
}

/// The number that every constructor puts into the field that a value is.
fn by_default(evaluator: &Evaluator<'_>, value: &Value) -> Option<i128> {
    let mut numbers = field_values(evaluator, value)?.iter().filter_map(|known| match known.form {
        Form::Duration(number) | Form::Int(number) => Some(number),
        _ => None,
    });
    let first = numbers.next()?;
    numbers.all(|other| other == first).then_some(first)
}

fn name(value: &Value) -> Option<String> {
    match &value.form {
        Form::Symbol(Symbol::Field { owner, name }) => Some(format!("{owner}.{name}")),
        Form::Symbol(symbol) => Some(symbol.name().to_string()).filter(|name| !name.is_empty()),
        _ => None,
    }
}
