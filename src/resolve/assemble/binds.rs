//! Values that Rust code binds to statements, reduced to what a verdict may ask of them. It knows nothing
//! of the statement that they are bound to.

use crate::facts::rust::TypeKind;
use crate::locks::naming;
use crate::locks::statement::BoundValue;

use super::super::program::Program;
use super::super::value::{Form, Value};

/// `unit` is the file that the statement is run in: names in the value are looked up from there.
pub(super) fn bound(program: &Program<'_>, unit: usize, value: &Value) -> BoundValue {
    let name = match &value.form {
        Form::Symbol(symbol) => Some(symbol.name().to_string()),
        _ => None,
    };
    let variant = || name.as_deref().and_then(|name| variant(program, unit, name));
    let constant =
        value.as_text().or_else(|| value.as_int().map(|number| number.to_string())).or_else(variant);
    BoundValue { name, wall_clock: value.flows.wall_clock, constant }
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
