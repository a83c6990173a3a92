//! Timelines: the steps of each function that both works with a lock and does something else, or ends the
//! process, in order.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::facts::Location;
use crate::locks::timeline::{Ending, Exit, Path, SignalWait, Step, StepKind, Timeline};
use crate::locks::{Key, Sequence};

use super::super::evaluate::Evaluator;
use super::super::trace::{self, Action, GuardList, Operation, Trace};
use super::super::value::{Form, Piece, Symbol, Value};
use super::binds::parameter;
use super::held_checks::Checks;
use super::lease_types::LeaseTypes;
use super::statements::StatementRuns;

/// One timeline for each function with two steps or more.
pub fn timelines(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    keys: &[Key],
    sequences: &[Sequence],
    runs: &StatementRuns,
) -> Vec<Timeline> {
    let lease_types = LeaseTypes::of(evaluator, keys, sequences);
    let by_function: HashMap<usize, usize> =
        sequences.iter().enumerate().map(|(at, sequence)| (sequence.number, at)).collect();
    let mut functions = order.to_vec();
    functions.sort_unstable();
    let made = functions.into_iter().filter_map(|function| {
        let trace = evaluator.trace(function)?;
        let sequence = by_function.get(&function).copied();
        let is_test = evaluator.program.is_test(function);
        let operations = sequence.map_or(&[][..], |at| &sequences[at].operations);
        let checks = Checks { evaluator, lease_types: &lease_types, function, trace: &trace, operations };
        let made = Assembly { trace: &trace, function, operations, runs, checks, numbers: HashMap::new() };
        let entry = evaluator.program.functions[function];
        let location =
            Location { file: evaluator.program.unit_of(function).file, span: entry.function.name_span };
        let timeline = made.timeline(evaluator.program.qualified_name(function), location, sequence);
        let is_checked = timeline.steps.iter().any(|step| step.check.is_some());
        let is_telling = timeline.steps.len() > 1 || is_checked || !timeline.endings.is_empty();
        (!is_test && is_telling).then_some(timeline)
    });
    made.collect()
}

struct Assembly<'s, 'a> {
    trace: &'s Trace,
    function: usize,
    /// Those of the function's sequence, in the order of the trace.
    operations: &'s [crate::locks::Operation],
    runs: &'s StatementRuns,
    checks: Checks<'s, 'a>,
    /// Conditions by where they stand.
    numbers: HashMap<*const GuardList, u32>,
}

impl Assembly<'_, '_> {
    fn timeline(mut self, function: String, location: Location, sequence: Option<usize>) -> Timeline {
        let mut steps = Vec::new();
        // The steps of each operation of the trace begin here.
        let mut starts = Vec::with_capacity(self.trace.operations.len() + 1);
        for (index, operation) in self.trace.operations.iter().enumerate() {
            starts.push(steps.len());
            let kinds = self.kinds(index, operation);
            if kinds.is_empty() {
                continue;
            }
            let path = self.path(&operation.guards);
            let step_of = |reply: usize| starts.get(reply).copied();
            let made_of: Vec<usize> = written(operation).filter_map(step_of).collect();
            let decided_by: Vec<usize> =
                operation.guards.iter().flat_map(doubtful).filter_map(step_of).collect();
            let kept: Vec<usize> = operation.kept.iter().copied().filter_map(step_of).collect();
            let check = self.checks.before(operation);
            let given_as = self.given_as(index);
            let binds_key_of: Vec<usize> = self.binds_key_of(index, operation).filter_map(step_of).collect();
            steps.extend(kinds.into_iter().map(|kind| Step {
                kind,
                place: operation.via.first().copied().unwrap_or(operation.location),
                inner: operation.location,
                path: path.clone(),
                is_apart: operation.context.spawned || operation.context.in_drop,
                task: operation.context.spawned_at,
                arm: operation.context.arm,
                may_be_dropped: operation.context.stoppable || operation.context.raced,
                in_loop: operation.context.innermost,
                made_of: made_of.clone(),
                decided_by: decided_by.clone(),
                kept: kept.clone(),
                check: check.clone(),
                binds_key_of: binds_key_of.clone(),
                depth: operation.via.len(),
                given_as: given_as.clone(),
            }));
        }
        starts.push(steps.len());
        let trace = self.trace;
        let exits = trace.exits.iter().map(|exit| self.exit(exit, &starts)).collect();
        let endings = trace.operations.iter().enumerate();
        let endings =
            endings.filter_map(|(index, operation)| self.ending(index, operation, &starts)).collect();
        let waits = trace.waits.iter().map(|wait| SignalWait {
            signal: wait.signal,
            position: starts.get(wait.position).copied().unwrap_or(steps.len()),
            arm: wait.arm,
        });
        let waits = waits.collect();
        let started = |wanted: &dyn Fn(&trace::Task) -> bool| {
            trace.tasks.iter().filter(|task| wanted(task)).map(|task| task.location).collect()
        };
        let awaited_tasks = started(&|task| self.is_awaited(task));
        let aborted_tasks = started(&|task| self.is_aborted(task));
        Timeline {
            function,
            location,
            sequence,
            steps,
            exits,
            endings,
            waits,
            awaited_tasks,
            aborted_tasks,
            waits_for_others: trace.waits_for_others,
        }
    }

    /// The operations before one whose keys are made of a value that it binds.
    fn binds_key_of(&self, index: usize, operation: &Operation) -> impl Iterator<Item = usize> {
        let bound: Vec<Symbol> = match &operation.action {
            Action::Sql(call) => call.binds.iter().filter_map(symbol).cloned().collect(),
            _ => Vec::new(),
        };
        let before = if bound.is_empty() { 0 } else { index };
        let before = self.trace.operations.iter().take(before).enumerate();
        before.filter_map(move |(at, known)| {
            let made_of = |piece: &Piece| match piece {
                Piece::Hole(value) => symbol(value).is_some_and(|symbol| bound.contains(symbol)),
                Piece::Text { .. } => false,
            };
            known.key.pieces().iter().any(made_of).then_some(at)
        })
    }

    /// The fields of the function's result that a reply is put into.
    fn given_as(&self, reply: usize) -> Vec<String> {
        let given = self.trace.given.iter().filter(|(_, replies)| replies.contains(&reply));
        given.map(|(name, _)| name.to_string()).collect()
    }

    /// Whether somebody sees the task end, or may: a `select!` that a signal ends as well does not wait for it.
    fn is_awaited(&self, task: &trace::Task) -> bool {
        let is_left = |arm: Option<(u32, u32)>| {
            let Some((select, own)) = arm else { return false };
            let waits = self.trace.waits.iter().filter_map(|wait| wait.arm);
            waits.into_iter().any(|(other, arm)| other == select && arm != own)
        };
        let sees_the_end = |seen: &trace::HandleUse| seen.kind.sees_the_end() && !is_left(seen.arm);
        task.passed || task.returned || !task.fields.is_empty() || task.uses.iter().any(sees_the_end)
    }

    /// Whether somebody aborts the task and does not see its end then: another arm of the same `select!` may.
    fn is_aborted(&self, task: &trace::Task) -> bool {
        let is_other_arm = |arm: Option<(u32, u32)>, other: Option<(u32, u32)>| match (arm, other) {
            (Some((select, arm)), Some((other, its))) => select == other && arm != its,
            _ => false,
        };
        let mut aborts = task.uses.iter().filter(|seen| seen.kind == trace::HandleUseKind::Abort);
        aborts.any(|abort| {
            let own = task.uses.iter().filter(|seen| !is_other_arm(seen.arm, abort.arm));
            !self.is_awaited(&trace::Task { uses: own.copied().collect(), ..task.clone() })
        })
    }

    fn ending(&mut self, index: usize, operation: &Operation, starts: &[usize]) -> Option<Ending> {
        let Action::Exit { told } = operation.action else { return None };
        let step = |reply: usize| starts.get(reply).copied();
        let doubtful = operation.guards.iter().flat_map(doubtful);
        let kept = operation.value.iter().flat_map(|kept| kept.flows.replies.iter().copied());
        Some(Ending {
            place: operation.via.first().copied().unwrap_or(operation.location),
            inner: operation.location,
            helper: operation.via.last().copied(),
            depth: operation.via.len(),
            position: step(index)?,
            decided_by: doubtful.filter_map(step).collect(),
            path: self.path(&operation.guards),
            kept: kept.filter_map(step).collect(),
            task: operation.context.spawned_at,
            after_signal: operation.context.after_signal,
            is_last_resort: told || operation.context.after_sleep,
        })
    }

    fn kinds(&self, index: usize, operation: &Operation) -> Vec<StepKind> {
        match &operation.action {
            Action::Begin => vec![StepKind::Begin],
            Action::Commit => vec![StepKind::Commit],
            Action::Rollback => vec![StepKind::Rollback],
            Action::Sql(_) => {
                let sites = self.runs.get(&(self.function, index)).into_iter().flatten();
                sites.map(|site| StepKind::Statement(*site)).collect()
            }
            _ => {
                let first = self.operations.partition_point(|known| known.step < index);
                let own = self.operations[first..].iter().take_while(|known| known.step == index);
                own.zip(first..).map(|(_, at)| StepKind::Key(at)).collect()
            }
        }
    }

    fn exit(&mut self, exit: &trace::Exit, starts: &[usize]) -> Exit {
        let guarding = exit.guards.iter().take(1).flat_map(doubtful);
        let decided_by =
            exit.replies.iter().copied().chain(guarding).filter_map(|reply| starts.get(reply).copied());
        Exit {
            location: exit.location,
            position: starts.get(exit.position).copied().unwrap_or(usize::MAX),
            decided_by: decided_by.collect(),
            path: self.path(&exit.guards),
            in_loop: exit.in_loop,
        }
    }

    fn path(&mut self, guards: &Rc<GuardList>) -> Path {
        let mut path = Vec::new();
        let mut at = Some(guards);
        while let Some(list) = at {
            let next = self.numbers.len() as u32;
            path.push(*self.numbers.entry(Rc::as_ptr(list)).or_insert(next));
            at = list.outer.as_ref();
        }
        path.reverse();
        Path(path)
    }
}

fn symbol(value: &Value) -> Option<&Symbol> {
    match &parameter(value).1.form {
        Form::Symbol(symbol) => Some(symbol),
        _ => None,
    }
}

/// The replies in a condition that are not known to say yes where it holds.
fn doubtful((condition, holds): &(Value, bool)) -> Vec<usize> {
    let mut sure = BTreeSet::new();
    condition.known_answers(*holds, &mut |value, positive| {
        if positive {
            sure.extend(value.flows.replies.iter().copied());
        }
    });
    condition.flows.replies.iter().filter(|reply| !sure.contains(*reply)).copied().collect()
}

/// The replies in what an operation writes.
fn written(operation: &Operation) -> impl Iterator<Item = usize> {
    let (binds, text) = match &operation.action {
        // The values of a statement that a chain of calls builds are in the chain.
        Action::Sql(call) => (&call.binds[..], Some(&call.text)),
        _ => (&[][..], None),
    };
    let values = binds.iter().chain(text).chain(&operation.value);
    values.flat_map(|value| value.flows.replies.iter().copied())
}
