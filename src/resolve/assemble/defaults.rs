//! Defaults of a lease's configuration: a TTL and a renewal interval that one constructor gives to the fields of
//! one value. Whether the interval is too long is for rules; where a loop uses the fields, that is found by
//! its pause.

use crate::facts::Location;
use crate::locks::RenewalDefault;
use crate::locks::vocabulary::{
    names_lease, says_other_time, says_renewal, says_renewal_interval, says_time_before_end, words,
};

use super::super::evaluate::{Evaluator, Settings, unit_of_name};
use super::super::value::{Form, TimeUnit, Value};

const LENGTH: &[&str] = &["duration", "lifetime", "validity", "period", "secs", "seconds", "ms", "millis"];

pub fn renewal_defaults(evaluator: &Evaluator<'_>) -> Vec<RenewalDefault> {
    let mut found: Vec<RenewalDefault> =
        evaluator.settings.iter().filter_map(|settings| of_settings(evaluator, settings)).collect();
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
    let ttl = only(settings, |field| is_ttl(&settings.ty, field))?;
    let interval = only(settings, says_renewal_interval);
    let (given, is_margin) = match interval {
        Some(interval) => (interval, false),
        None => (only(settings, says_time_before_end)?, true),
    };
    let (ttl_length, given_length) = lengths((&ttl.0, &ttl.1), (&given.0, &given.1))?;
    let interval = if is_margin { ttl_length.checked_sub(given_length)? } else { given_length };
    (interval > 0 && ttl_length > 0).then(|| RenewalDefault {
        location: given.2,
        ttl_at: ttl.2,
        ty: settings.ty.to_string(),
        field: given.0.to_string(),
        interval,
        ttl: ttl_length,
    })
}

type Amount = (std::rc::Rc<str>, Value, Location);

/// The one field that `wanted` picks.
fn only(settings: &Settings, wanted: impl Fn(&str) -> bool) -> Option<&Amount> {
    let mut picked = settings.amounts.iter().filter(|(field, ..)| wanted(field));
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
