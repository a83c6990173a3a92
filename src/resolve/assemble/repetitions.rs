//! Repetitions: the loops around operations, with their pauses as lifetimes and the fate of the task that
//! they run in.

use crate::locks::renewal::{Handle, Pause, Repetition, Task};

use super::super::evaluate::Evaluator;
use super::super::trace::{self, HandleUse, HandleUseKind, Trace};
use super::super::value::Value;
use super::lifetimes::lifetime;

/// The loop around an operation of the trace of `function`.
pub fn repetition(
    evaluator: &Evaluator<'_>,
    function: usize,
    trace: &Trace,
    operation: &trace::Operation,
) -> Option<Repetition> {
    let known = operation.repetition.as_ref()?;
    let call = operation.via.len().checked_sub(known.calls).and_then(|at| operation.via.get(at));
    let pause = known
        .pause
        .as_ref()
        .map(|(location, value)| Pause { location: *location, length: lifetime(evaluator, value, 1) });
    Some(Repetition {
        location: known.location,
        call: call.copied().unwrap_or(operation.location),
        is_direct: call.is_none(),
        pause,
        on_failure: known.on_failure,
        failures_borne: known.failures_borne,
        task: task(evaluator, function, trace, operation),
        can_be_stopped: known.can_be_stopped || operation.context.stoppable,
    })
}

fn task(
    evaluator: &Evaluator<'_>,
    function: usize,
    trace: &Trace,
    operation: &trace::Operation,
) -> Option<Task> {
    let started_at = operation.context.spawned_at?;
    let known = trace.tasks.iter().find(|task| task.location == started_at);
    let handle = known.map_or(Handle::Elsewhere, |task| handle(evaluator, function, task));
    // The end of `main` ends the process.
    let ends_process = evaluator.program.functions[function].function.name == "main";
    let left_by = known.and_then(|task| task.left_by).filter(|_| !ends_process);
    Some(Task { started_at, handle, left_by })
}

fn handle(evaluator: &Evaluator<'_>, function: usize, task: &trace::Task) -> Handle {
    if !task.uses.is_empty() {
        let uses: Vec<(usize, HandleUse)> = task.uses.iter().map(|seen| (function, *seen)).collect();
        return of_uses(evaluator, &uses);
    }
    if !task.fields.is_empty() {
        return in_fields(evaluator, task);
    }
    if task.returned || task.passed { Handle::Elsewhere } else { Handle::Dropped }
}

/// What the methods of the types that hold the handle do with it.
fn in_fields(evaluator: &Evaluator<'_>, task: &trace::Task) -> Handle {
    let uses: Vec<(usize, HandleUse)> = task
        .fields
        .iter()
        .filter_map(|field| evaluator.handle_fields.get(field))
        .flatten()
        .copied()
        .collect();
    if uses.is_empty() { Handle::Elsewhere } else { of_uses(evaluator, &uses) }
}

fn of_uses(evaluator: &Evaluator<'_>, uses: &[(usize, HandleUse)]) -> Handle {
    if uses.iter().all(|(function, seen)| releases_before(evaluator, *function, seen.position)) {
        return Handle::StoppedAfterRelease;
    }
    let mut aborted = Vec::new();
    for (function, seen) in uses {
        match seen.kind {
            HandleUseKind::Abort | HandleUseKind::AwaitStopped => aborted.push(*function),
            // Awaiting what was aborted shows nothing of how the work went.
            HandleUseKind::Await if aborted.contains(function) => {}
            HandleUseKind::Await | HandleUseKind::Ask => return Handle::Watched,
        }
    }
    Handle::Stopped
}

/// Whether a function deletes a key before this position of its trace.
fn releases_before(evaluator: &Evaluator<'_>, function: usize, position: usize) -> bool {
    let Some(trace) = evaluator.trace(function) else { return false };
    trace.operations.iter().take(position).any(|operation| {
        !operation.context.spawned
            && match &operation.action {
                trace::Action::Delete { .. } => true,
                trace::Action::Script(call) => deletes(&call.source),
                _ => false,
            }
    })
}

fn deletes(source: &Value) -> bool {
    source.as_text().is_some_and(|text| {
        let text = text.to_ascii_lowercase();
        text.contains("'del'")
            || text.contains("\"del\"")
            || text.contains("'unlink'")
            || text.contains("\"unlink\"")
    })
}
