//! Values that Rust code binds to statements, reduced to what a verdict may ask of them. It knows nothing
//! of the statement that they are bound to.

use crate::facts::rust::TypeKind;
use crate::locks::naming;
use crate::locks::statement::{BoundValue, Drawn, DrawnFrom};

use super::super::evaluate::Evaluator;
use super::super::program::Program;
use super::super::value::{Form, Value};
use super::keys::field_values;

/// `unit` is the file that the statement is run in: names in the value are looked up from there.
pub(super) fn bound(evaluator: &Evaluator<'_>, unit: usize, value: &Value) -> BoundValue {
    let program = evaluator.program;
    let (parameter, value) = parameter(value);
    let name = match &value.form {
        Form::Symbol(symbol) => Some(symbol.name().to_string()),
        _ => None,
    };
    let variant = || name.as_deref().and_then(|name| variant(program, unit, name));
    let constant =
        value.as_text().or_else(|| value.as_int().map(|number| number.to_string())).or_else(variant);
    let (wall_clock, drawn) = (value.flows.wall_clock, drawn(evaluator, value));
    BoundValue { name, parameter, wall_clock, constant, drawn }
}

/// A value that is bound by name is a pair of the name and the value.
pub(super) fn parameter(value: &Value) -> (Option<String>, &Value) {
    match &value.form {
        Form::Tuple(pair) if pair.len() == 2 => match pair[0].as_text() {
            Some(name) => (Some(name), &pair[1]),
            None => (None, value),
        },
        _ => (None, value),
    }
}

/// Where a value, or all that is ever put into the field that it is, was drawn.
fn drawn(evaluator: &Evaluator<'_>, value: &Value) -> Option<Drawn> {
    let Some(kept) = field_values(evaluator, value) else { return drawn_here(value) };
    let mut kept = kept.iter().filter(|kept| kept.as_int().is_none());
    let first = drawn_here(kept.next()?)?;
    kept.all(|other| drawn_here(other).is_some()).then_some(first)
}

fn drawn_here(value: &Value) -> Option<Drawn> {
    let flows = &value.flows;
    if !flows.replies.is_empty() {
        return None;
    }
    let by_clock = flows.wall_clock.map(|location| Drawn { from: DrawnFrom::WallClock, location });
    by_clock.or_else(|| flows.random_at.map(|location| Drawn { from: DrawnFrom::Chance, location }))
}

/// What a variant such as `JobStatus::InProgress` is stored as. The mapping is in derives and trait
/// implementations that are not read, and nearly always gives the variant's words: `in_progress`.
fn variant(program: &Program<'_>, unit: usize, name: &str) -> Option<String> {
    let (ty, variant) = name.rsplit_once("::")?;
    let ty = ty.rsplit("::").next().unwrap_or(ty);
    let entry = program.type_of_name(program.scope_of_unit(unit), ty)?;
    match &entry.definition.kind {
        TypeKind::Enum { variants } if variants.iter().any(|known| known == variant) => {
            Some(naming::words(variant).join("_"))
        }
        _ => None,
    }
}
