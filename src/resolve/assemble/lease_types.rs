//! Which of the workspace's types hold a lease, and what their fields are to it. What is done with them is not
//! asked here.

use std::collections::BTreeSet;

use crate::facts::Location;
use crate::facts::rust::{Type, TypeKind};
use crate::locks::vocabulary::{names_lease, says_owner, words};
use crate::locks::{Key, Sequence};

use super::super::evaluate::Evaluator;
use super::super::program::Scope;
use super::super::trace;

/// Words of fields that hold the end of a lease.
const DEADLINE: &[&str] = &[
    "expires",
    "expiry",
    "expire",
    "expiration",
    "until",
    "deadline",
    "valid",
    "validity",
    "renewal",
    "renew",
    "ttl",
    "end",
    "remaining",
    "lapses",
];

/// Words of fields that hold the start of a lease, or of its last renewal.
const START: &[&str] =
    &["renewed", "acquired", "taken", "started", "since", "beat", "heartbeat", "extended", "refreshed"];

/// Words of fields that hold a moment to come which is not the end of the lease.
const OTHER: &[&str] = &[
    "next",
    "retry",
    "report",
    "check",
    "poll",
    "backoff",
    "flush",
    "log",
    "metric",
    "metrics",
    "ping",
    "cache",
    "token",
    "scheduled",
    "schedule",
    "due",
    "start",
    "starts",
    "begin",
    "begins",
    "print",
    "cooldown",
    "quiet",
];

/// The types that hold a lease.
pub(super) struct LeaseTypes<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    holders: BTreeSet<String>,
}

impl<'s, 'a> LeaseTypes<'s, 'a> {
    pub(super) fn of(evaluator: &'s Evaluator<'a>, found: &[Key], sequences: &[Sequence]) -> Self {
        Self { evaluator, holders: lease_types(evaluator, found, sequences) }
    }

    /// Adds the types of functions that take, extend or free leases on rows.
    pub(super) fn with_rows(mut self, functions: impl Iterator<Item = usize>) -> Self {
        for function in functions {
            add_types(self.evaluator, function, &mut self.holders);
        }
        self
    }

    /// A type holds a lease when its methods act on a lock, or when it is made where a lock is acquired, as
    /// far as this function shows.
    pub(super) fn has(&self, ty: &str, function: usize, trace: &trace::Trace) -> bool {
        self.holders.contains(ty)
            || self.is_made_by_acquire(ty, function, trace)
            || self.is_lease_by_shape(ty, function)
    }

    /// Its name says that it is a lock or lease, and it keeps who holds it beside when that ends.
    fn is_lease_by_shape(&self, ty: &str, function: usize) -> bool {
        let program = self.evaluator.program;
        let scope = program.functions[function].scope();
        let names_lease = names_lease(ty);
        let Some(entry) = program.type_of_name(scope, ty).filter(|_| names_lease) else { return false };
        let TypeKind::Struct { fields } = &entry.definition.kind else { return false };
        fields.iter().any(|field| is_deadline(&field.name))
            && fields.iter().any(|field| says_owner(&field.name) || field.name == "value")
    }

    fn is_made_by_acquire(&self, ty: &str, function: usize, trace: &trace::Trace) -> bool {
        let result = self.evaluator.program.functions[function].function.result.as_ref();
        let names = |wanted: &str| result.is_some_and(|result| type_names(result, wanted));
        (names(ty) || names("Self")) && trace.operations.iter().any(is_acquire)
    }
}

/// Types whose methods acquire, extend or free a lock, and structs that such functions take or give.
fn lease_types(evaluator: &Evaluator<'_>, found: &[Key], sequences: &[Sequence]) -> BTreeSet<String> {
    let program = evaluator.program;
    let mut types = BTreeSet::new();
    let places: BTreeSet<Location> = sequences
        .iter()
        .filter(|sequence| {
            sequence
                .operations
                .iter()
                .any(|operation| operation.via.is_empty() && found[operation.key].is_lock())
        })
        .map(|sequence| sequence.location)
        .collect();
    for (number, entry) in program.functions.iter().enumerate() {
        let file = program.units[entry.unit].file;
        if places.contains(&Location { file, span: entry.function.name_span }) {
            add_types(evaluator, number, &mut types);
        }
    }
    types
}

/// The type that has a function, and those that it takes or gives.
fn add_types(evaluator: &Evaluator<'_>, function: usize, types: &mut BTreeSet<String>) {
    let entry = &evaluator.program.functions[function];
    types.extend(entry.function.owner.clone());
    let written = entry.function.params.iter().map(|param| &param.ty).chain(&entry.function.result);
    for ty in written {
        struct_names(evaluator, entry.scope(), ty, types);
    }
}

fn struct_names(evaluator: &Evaluator<'_>, scope: Scope, ty: &Type, names: &mut BTreeSet<String>) {
    let peeled = evaluator.program.peeled(scope, ty);
    if evaluator.program.type_named(scope, &peeled).is_some() {
        names.insert(peeled.name().to_owned());
    }
    peeled.args.iter().for_each(|arg| struct_names(evaluator, scope, arg, names));
}

pub(super) fn is_acquire(operation: &trace::Operation) -> bool {
    use super::super::value::WriteCondition;
    matches!(operation.action, trace::Action::Set { condition: WriteCondition::IfAbsent, .. })
}

fn type_names(ty: &Type, wanted: &str) -> bool {
    ty.name() == wanted || ty.args.iter().any(|arg| type_names(arg, wanted))
}

pub(super) fn is_start(field: &str) -> bool {
    words(field).iter().any(|word| START.contains(&word.as_str()))
}

/// Whether a moment to come, kept in a field of this name, is that of something else than the lease.
pub(super) fn is_other_moment(field: &str) -> bool {
    words(field).iter().any(|word| OTHER.contains(&word.as_str()))
}

pub(super) fn is_deadline(field: &str) -> bool {
    words(field).iter().any(|word| DEADLINE.contains(&word.as_str()))
}
