//! Wall-clock readings that end up in a lease: compared with what the lock stores, kept as a deadline in
//! a type that holds a lease, or given to the store as a lifetime.

use crate::locks::{Action, ClockFlow, ClockFlowKind, Key, Sequence, Ttl};

use super::super::evaluate::Evaluator;
use super::super::trace::{self, ClockUse, ClockUseKind};
use super::super::value::Value;
use super::keys::KeyTable;
use super::lease_types::{LeaseTypes, is_acquire, is_deadline, is_start};

pub fn clock_flows(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    keys: &mut KeyTable,
    found: &[Key],
    sequences: &[Sequence],
) -> Vec<ClockFlow> {
    let lease_types = LeaseTypes::of(evaluator, found, sequences);
    let mut flows: Vec<ClockFlow> = Vec::new();
    let mut functions = order.to_vec();
    functions.sort_unstable();
    for function in functions {
        let Some(trace) = evaluator.trace(function) else { continue };
        for clock_use in &trace.clock_uses {
            let mut flow =
                Flow { evaluator, function, keys, found, lease_types: &lease_types, trace: &trace };
            flows.extend(flow.of(clock_use));
        }
    }
    flows.extend(given_as_ttl(found, sequences));
    flows.sort_by_key(|flow| (flow.location, flow.reading));
    flows.dedup_by_key(|flow| flow.location);
    flows
}

struct Flow<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    function: usize,
    keys: &'s mut KeyTable,
    found: &'s [Key],
    lease_types: &'s LeaseTypes<'s, 'a>,
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

    fn is_lease_type(&self, ty: &str) -> bool {
        self.lease_types.has(ty, self.function, self.trace)
    }

    fn lock_of_trace(&mut self) -> Option<String> {
        let acquire = self.trace.operations.iter().find(|operation| is_acquire(operation))?;
        let key = self.keys.entry(self.evaluator, self.function, &acquire.key)?.index;
        self.found.get(key).map(|key| key.name.clone())
    }
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
