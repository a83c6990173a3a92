//! Defaults of a lease's configuration: a TTL and a renewal interval that one constructor gives to the fields of
//! one value. Whether the interval is too long is for rules; where a loop uses the fields, that is found by
//! its pause.

use crate::facts::Location;
use crate::facts::rust::TypeKind;
use crate::locks::RenewalDefault;
use crate::locks::vocabulary::{
    names_lease, says_other_time, says_renewal, says_renewal_interval, says_time_before_end, words,
};

use super::super::evaluate::{Evaluator, Settings, unit_of_name};
use super::super::program::TypeEntry;
use super::super::value::{Form, TimeUnit, Value};

const LENGTH: &[&str] = &["duration", "lifetime", "validity", "period", "secs", "seconds", "ms", "millis"];

pub fn renewal_defaults(evaluator: &Evaluator<'_>) -> Vec<RenewalDefault> {
    let mut found: Vec<RenewalDefault> =
        evaluator.settings.iter().filter_map(|settings| of_settings(evaluator, settings)).collect();
    found.extend(evaluator.program.types().iter().filter_map(|entry| of_attributes(evaluator, entry)));
    found.sort_by_key(|default| default.location);
    found.dedup_by_key(|default| default.location);
    found
}

fn of_settings(evaluator: &Evaluator<'_>, settings: &Settings) -> Option<RenewalDefault> {
    // What somebody else makes of the type is no default, and may be a test's.
    let maker = evaluator.program.functions[settings.function].function;
    if evaluator.program.is_test(settings.function) || maker.owner.as_deref() != Some(&*settings.ty) {
        return None;
    }
    of_amounts(&settings.ty, &settings.amounts)
}

/// What the attributes of a type's fields say: `#[arg(default_value_t = 30)]`.
fn of_attributes(evaluator: &Evaluator<'_>, entry: &TypeEntry<'_>) -> Option<RenewalDefault> {
    let TypeKind::Struct { fields } = &entry.definition.kind else { return None };
    if entry.definition.is_test {
        return None;
    }
    let file = evaluator.program.units[entry.unit].file;
    let amounts = fields.iter().filter_map(|field| {
        let default = field.default.as_ref()?;
        Some((field.name.as_str().into(), amount(&default.text)?, Location { file, span: default.span }))
    });
    of_amounts(&entry.definition.name, &amounts.collect::<Vec<Amount>>())
}

/// `30`, `30_000u64`, `30s`.
fn amount(text: &str) -> Option<Value> {
    let text = text.trim().replace('_', "");
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let number: i128 = number.parse().ok()?;
    Some(Value::new(match unit.trim() {
        "" | "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => Form::Int(number),
        "ms" => Form::Duration(number),
        "s" | "sec" | "secs" => Form::Duration(number.checked_mul(1000)?),
        "m" | "min" => Form::Duration(number.checked_mul(60_000)?),
        _ => return None,
    }))
}

fn of_amounts(ty: &str, amounts: &[Amount]) -> Option<RenewalDefault> {
    let ttl = only(amounts, |field| is_ttl(ty, field))?;
    let interval = only(amounts, says_renewal_interval);
    let (given, is_margin) = match interval {
        Some(interval) => (interval, false),
        None => (only(amounts, says_time_before_end)?, true),
    };
    let (ttl_length, given_length) = lengths((&ttl.0, &ttl.1), (&given.0, &given.1))?;
    let interval = if is_margin { ttl_length.checked_sub(given_length)? } else { given_length };
    (interval > 0 && ttl_length > 0).then(|| RenewalDefault {
        location: given.2,
        ttl_at: ttl.2,
        ty: ty.to_owned(),
        field: given.0.to_string(),
        interval,
        ttl: ttl_length,
    })
}

type Amount = (std::rc::Rc<str>, Value, Location);

/// The one field that `wanted` picks.
fn only(amounts: &[Amount], wanted: impl Fn(&str) -> bool) -> Option<&Amount> {
    let mut picked = amounts.iter().filter(|(field, ..)| wanted(field));
    let first = picked.next()?;
    picked.next().is_none().then_some(first)
}

fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

fn is_ttl(ty: &str, field: &str) -> bool {
    let words_of_field = words(field);
    let of_lease = names_lease(field);
    let says_ttl = words_of_field.iter().any(|word| word == "ttl");
    !says_renewal(field)
        && !says_other_time(field)
        && ((says_ttl && (of_lease || names_lease(ty))) || (of_lease && has(&words_of_field, LENGTH)))
}

/// Both amounts in milliseconds; numbers whose unit nobody tells count the same.
fn lengths(ttl: (&str, &Value), given: (&str, &Value)) -> Option<(i128, i128)> {
    match (&ttl.1.form, &given.1.form) {
        (Form::Duration(ttl), Form::Duration(given)) => Some((*ttl, *given)),
        (Form::Int(ttl_number), Form::Int(number)) => {
            let (ttl_unit, unit) = (unit_of_name(ttl.0), unit_of_name(given.0));
            let millis = |unit: Option<TimeUnit>| match unit {
                Some(TimeUnit::Milliseconds) => 1,
                _ => 1000,
            };
            (ttl_unit.is_some() == unit.is_some()).then_some(())?;
            Some((ttl_number.checked_mul(millis(ttl_unit))?, number.checked_mul(millis(unit))?))
        }
        _ => None,
    }
}
