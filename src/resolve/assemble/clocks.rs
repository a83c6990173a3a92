//! Wall-clock readings that end up in a lease: compared with what the lock stores, kept as a deadline in
//! a type that holds a lease, or given to the store as a lifetime.

use std::collections::BTreeSet;

use crate::locks::vocabulary::words;
use crate::locks::{Action, ClockFlow, ClockFlowKind, Key, Sequence, Ttl};

use super::super::evaluate::Evaluator;
use super::super::trace::{self, ClockUse, ClockUseKind};
use super::super::value::{Form, Symbol, Value};
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

pub fn clock_flows(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    keys: &mut KeyTable,
    found: &[Key],
    sequences: &[Sequence],
) -> Vec<ClockFlow> {
    let holders = lease_types(found, sequences);
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

/// Types whose methods acquire, extend or free a lock.
fn lease_types(found: &[Key], sequences: &[Sequence]) -> BTreeSet<String> {
    sequences
        .iter()
        .flat_map(|sequence| &sequence.operations)
        .filter(|operation| found[operation.key].is_lock())
        .filter_map(|operation| operation.function.rsplit_once("::"))
        .map(|(owner, _)| owner.to_owned())
        .collect()
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
                let (kind, lock) = self.compared(with)?;
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
        Some(ClockFlow {
            location: clock_use.location,
            reading,
            kind,
            lock,
            function: program.qualified_name(clock_use.function),
            is_test: program.is_test(clock_use.function),
        })
    }

    fn compared(&mut self, with: &Value) -> Option<(ClockFlowKind, Option<String>)> {
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
        let Form::Symbol(Symbol::Field { owner, name }) = &with.form else { return None };
        if !self.is_lease_type(owner) || !is_deadline(name) {
            return None;
        }
        let kind = ClockFlowKind::ComparedWithDeadline { field: format!("{owner}.{name}") };
        Some((kind, None))
    }

    /// A type holds a lease when its methods act on a lock, or when it is made where a lock is acquired.
    fn is_lease_type(&self, ty: &str) -> bool {
        self.holders.contains(ty) || self.is_made_by_acquire(ty)
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
            let Ttl::WallClock(reading) = ttl else { return None };
            Some(ClockFlow {
                location: operation.location,
                reading: *reading,
                kind: ClockFlowKind::GivenAsTtl,
                lock: Some(found[operation.key].name.clone()),
                function: operation.function.clone(),
                is_test: operation.is_test,
            })
        })
        .collect()
}
