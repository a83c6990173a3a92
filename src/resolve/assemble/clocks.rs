//! Wall-clock readings that end up in a lease: compared with what the lock stores, kept as a deadline in
//! a type that holds a lease, or given to the store as a lifetime.

use std::collections::BTreeSet;

use crate::facts::Location;
use crate::facts::rust::{Type, TypeKind};
use crate::locks::vocabulary::{names_lease, says_owner, words};
use crate::locks::{Action, ClockFlow, ClockFlowKind, Key, Sequence, Ttl};

use super::super::evaluate::Evaluator;
use super::super::program::Scope;
use super::super::trace::{self, ClockUse, ClockUseKind};
use super::super::value::Value;
use super::keys::KeyTable;

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

pub fn clock_flows(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    keys: &mut KeyTable,
    found: &[Key],
    sequences: &[Sequence],
) -> Vec<ClockFlow> {
    let holders = lease_types(evaluator, found, sequences);
    let mut flows: Vec<ClockFlow> = Vec::new();
    let mut functions = order.to_vec();
    functions.sort_unstable();
    for function in functions {
        let Some(trace) = evaluator.trace(function) else { continue };
        for clock_use in &trace.clock_uses {
            let mut flow = Flow { evaluator, function, keys, found, holders: &holders, trace: &trace };
            flows.extend(flow.of(clock_use));
        }
    }
    flows.extend(given_as_ttl(found, sequences));
    flows.sort_by_key(|flow| (flow.location, flow.reading));
    flows.dedup_by_key(|flow| flow.location);
    flows
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
    for entry in &program.functions {
        let file = program.units[entry.unit].file;
        if !places.contains(&Location { file, span: entry.function.name_span }) {
            continue;
        }
        types.extend(entry.function.owner.clone());
        let written = entry.function.params.iter().map(|param| &param.ty).chain(&entry.function.result);
        for ty in written {
            struct_names(evaluator, entry.scope(), ty, &mut types);
        }
    }
    types
}

fn struct_names(evaluator: &Evaluator<'_>, scope: Scope, ty: &Type, names: &mut BTreeSet<String>) {
    let peeled = evaluator.program.peeled(scope, ty);
    if evaluator.program.type_named(scope, &peeled).is_some() {
        names.insert(peeled.name().to_owned());
    }
    peeled.args.iter().for_each(|arg| struct_names(evaluator, scope, arg, names));
}

struct Flow<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    function: usize,
    keys: &'s mut KeyTable,
    found: &'s [Key],
    holders: &'s BTreeSet<String>,
    trace: &'s trace::Trace,
}

impl Flow<'_, '_> {
    fn of(&mut self, clock_use: &ClockUse) -> Option<ClockFlow> {
        let (kind, lock, reading) = match &clock_use.kind {
            ClockUseKind::Compared { reading, with } => {
                let (kind, lock) = self.compared(with, true)?;
                (kind, lock, reading.flows.wall_clock?)
            }
            ClockUseKind::Subtracted { reading, with } => {
                let (kind, lock) = self.compared(with, false)?;
                (kind, lock, reading.flows.wall_clock?)
            }
            ClockUseKind::Stored { ty, field, reading } => {
                if !self.is_lease_type(ty) || !is_deadline(field) {
                    return None;
                }
                let kind = ClockFlowKind::StoredAsDeadline { field: format!("{ty}.{field}") };
                (kind, self.lock_of_trace(), reading.flows.wall_clock?)
            }
        };
        let program = self.evaluator.program;
        // What is stored is wrong where it is read off the clock, when that is near.
        let stored_here =
            matches!(kind, ClockFlowKind::StoredAsDeadline { .. }) && reading.file == clock_use.location.file;
        Some(ClockFlow {
            location: if stored_here { reading } else { clock_use.location },
            reading,
            kind,
            lock,
            function: program.qualified_name(clock_use.function),
            is_test: program.is_test(clock_use.function),
        })
    }

    fn compared(&mut self, with: &Value, decides: bool) -> Option<(ClockFlowKind, Option<String>)> {
        for &reply in &with.flows.replies {
            let operation = self.trace.operations.get(reply)?;
            if !matches!(operation.action, trace::Action::Get) {
                continue;
            }
            let key = self.keys.entry(self.evaluator, self.function, &operation.key)?.index;
            let found = self.found.get(key)?;
            if found.is_lock() || !found.acquires.is_empty() && found.weight() > 0 {
                return Some((ClockFlowKind::ComparedWithStored, Some(found.name.clone())));
            }
        }
        let (owner, name) = with.flows.fields.iter().find(|(owner, name)| {
            self.is_lease_type(owner) && (is_deadline(name) || (decides && is_start(name)))
        })?;
        Some((ClockFlowKind::ComparedWithDeadline { field: format!("{owner}.{name}") }, None))
    }

    /// A type holds a lease when its methods act on a lock, or when it is made where a lock is acquired.
    fn is_lease_type(&self, ty: &str) -> bool {
        self.holders.contains(ty) || self.is_made_by_acquire(ty) || self.is_lease_by_shape(ty)
    }

    /// Its name says that it is a lock or lease, and it keeps who holds it beside when that ends.
    fn is_lease_by_shape(&self, ty: &str) -> bool {
        let program = self.evaluator.program;
        let scope = program.functions[self.function].scope();
        let names_lease = names_lease(ty);
        let Some(entry) = program.type_of_name(scope, ty).filter(|_| names_lease) else { return false };
        let TypeKind::Struct { fields } = &entry.definition.kind else { return false };
        fields.iter().any(|field| is_deadline(&field.name))
            && fields.iter().any(|field| says_owner(&field.name) || field.name == "value")
    }

    fn is_made_by_acquire(&self, ty: &str) -> bool {
        let result = self.evaluator.program.functions[self.function].function.result.as_ref();
        let names = |wanted: &str| result.is_some_and(|result| type_names(result, wanted));
        (names(ty) || names("Self")) && self.trace.operations.iter().any(is_acquire)
    }

    fn lock_of_trace(&mut self) -> Option<String> {
        let acquire = self.trace.operations.iter().find(|operation| is_acquire(operation))?;
        let key = self.keys.entry(self.evaluator, self.function, &acquire.key)?.index;
        self.found.get(key).map(|key| key.name.clone())
    }
}

fn is_acquire(operation: &trace::Operation) -> bool {
    use super::super::value::WriteCondition;
    matches!(operation.action, trace::Action::Set { condition: WriteCondition::IfAbsent, .. })
}

fn type_names(ty: &crate::facts::rust::Type, wanted: &str) -> bool {
    ty.name() == wanted || ty.args.iter().any(|arg| type_names(arg, wanted))
}

fn is_start(field: &str) -> bool {
    words(field).iter().any(|word| START.contains(&word.as_str()))
}

fn is_deadline(field: &str) -> bool {
    words(field).iter().any(|word| DEADLINE.contains(&word.as_str()))
}

/// Lifetimes of locks that were computed from the wall clock.
fn given_as_ttl(found: &[Key], sequences: &[Sequence]) -> Vec<ClockFlow> {
    sequences
        .iter()
        .flat_map(|sequence| &sequence.operations)
        .filter(|operation| found[operation.key].is_lock())
        .filter_map(|operation| {
            let (Action::Acquire { ttl, .. } | Action::Expire { ttl, .. } | Action::Overwrite { ttl, .. }) =
                &operation.action
            else {
                return None;
            };
            let (reading, kind) = match ttl {
                Ttl::WallClock(reading) => (reading, ClockFlowKind::GivenAsTtl),
                Ttl::UntilWallClock(reading) => (reading, ClockFlowKind::GivenAsEnd),
                _ => return None,
            };
            Some(ClockFlow {
                location: operation.location,
                reading: *reading,
                kind,
                lock: Some(found[operation.key].name.clone()),
                function: operation.function.clone(),
                is_test: operation.is_test,
            })
        })
        .collect()
}
