//! Wall-clock readings that end up in a lease: compared with what the lock stores, kept as a deadline in
//! a type that holds a lease, given to the store as a lifetime, or asked whether it is time to renew.

use std::collections::BTreeSet;

use crate::facts::Location;
use crate::facts::rust::BinaryOperator;
use crate::locks::{
    Action, ClockFlow, ClockFlowKind, Inventory, Key, Sequence, Ttl, client_clocks, row_leases,
};

use super::super::evaluate::Evaluator;
use super::super::trace::{self, ClockUse, ClockUseKind};
use super::super::value::{Condition, Form, Value};
use super::keys::KeyTable;
use super::lease_types::{LeaseTypes, is_acquire, is_deadline, is_other_moment, is_start};
use super::statements::StatementRuns;

pub fn clock_flows(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    keys: &mut KeyTable,
    inventory: &Inventory,
    runs: &StatementRuns,
) -> Vec<ClockFlow> {
    let (found, sequences) = (&inventory.keys[..], &inventory.sequences[..]);
    let lease_types =
        LeaseTypes::of(evaluator, found, sequences).with_rows(row_users(evaluator, inventory, runs));
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
    // A moment that is kept in a lease's field is told of by the comparison with that field.
    let told: BTreeSet<Location> = flows.iter().map(|flow| flow.reading).collect();
    flows.extend(renewals_by_clock(evaluator, found, sequences, &told));
    // A reading that decides on a row is wrong in the store already.
    let of_rows: BTreeSet<Location> = client_clocks(inventory).iter().map(|clock| clock.reading).collect();
    flows.retain(|flow| !of_rows.contains(&flow.reading));
    flows.sort_by_key(|flow| (flow.location, flow.reading));
    flows.dedup_by_key(|flow| flow.location);
    flows
}

/// The functions that run statements which give leases on rows themselves.
fn row_users<'s>(
    evaluator: &'s Evaluator<'_>,
    inventory: &Inventory,
    runs: &'s StatementRuns,
) -> impl Iterator<Item = usize> + 's {
    let leases: BTreeSet<usize> = row_leases(inventory).iter().map(|lease| lease.statement).collect();
    let running = runs.iter().filter(move |(_, run)| run.iter().any(|statement| leases.contains(statement)));
    running.map(|((function, index), _)| (*function, *index)).filter_map(|(function, index)| {
        let trace = evaluator.trace(function)?;
        trace.operations.get(index)?.via.is_empty().then_some(function)
    })
}

/// Renewals that come when the wall clock has passed a moment.
fn renewals_by_clock(
    evaluator: &Evaluator<'_>,
    found: &[Key],
    sequences: &[Sequence],
    told: &BTreeSet<Location>,
) -> Vec<ClockFlow> {
    let mut flows = Vec::new();
    for sequence in sequences {
        let Some(trace) = evaluator.trace(sequence.number) else { continue };
        for operation in sequence.operations.iter().filter(|operation| found[operation.key].is_lock()) {
            if !matches!(operation.action, Action::Expire { .. }) {
                continue;
            }
            let Some(step) = trace.operations.get(operation.step) else { continue };
            let mut passed = step.guards.iter().filter_map(|(asked, holds)| passed_moment(asked, *holds));
            let Some((_, reading)) =
                passed.find(|(now, moment)| !told.contains(now) && !told.contains(moment))
            else {
                continue;
            };
            flows.push(ClockFlow {
                location: reading,
                reading,
                kind: ClockFlowKind::DecidesRenewal,
                lock: Some(found[operation.key].name.clone()),
                function: sequence.function.clone(),
                is_test: operation.is_test,
            });
        }
    }
    flows
}

/// The reading of the wall clock that a condition found to be past a moment, and the one that the moment was
/// counted from: `now >= renew_at`, `now - renewed_at > third`.
fn passed_moment(asked: &Value, holds: bool) -> Option<(Location, Location)> {
    let Form::Condition(condition) = &asked.form else { return None };
    match &**condition {
        Condition::Order { operator, left, right } => {
            let is_above = matches!(operator, BinaryOperator::Greater | BinaryOperator::GreaterOrEqual);
            let (later, moment) = if is_above == holds { (left, right) } else { (right, left) };
            let reading = later.flows.wall_clock.filter(|_| !later.flows.moved_on)?;
            Some((reading, moment.flows.wall_clock.unwrap_or(reading)))
        }
        Condition::Not(inner) => passed_moment(inner, !holds),
        Condition::All(parts) if holds => parts.iter().find_map(|part| passed_moment(part, true)),
        Condition::Any(parts) if !holds => parts.iter().find_map(|part| passed_moment(part, false)),
        _ => None,
    }
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
                let is_end = is_deadline(field) || (reading.flows.moved_on && !is_other_moment(field));
                if !is_end || !self.is_lease_type(ty) {
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
