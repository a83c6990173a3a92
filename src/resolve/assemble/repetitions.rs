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
    let renewal = Renewal { evaluator, operation };
    let handle = known.map_or(Handle::Elsewhere, |task| renewal.handle(function, task));
    // The end of `main` ends the process.
    let ends_process = evaluator.program.functions[function].function.name == "main";
    let left_by = known.and_then(|task| task.left_by).filter(|_| !ends_process);
    Some(Task { started_at, handle, left_by })
}

/// A renewal in a task, whose end is looked for in the code that holds the task's handle.
struct Renewal<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    operation: &'s trace::Operation,
}

impl Renewal<'_, '_> {
    fn handle(&self, function: usize, task: &trace::Task) -> Handle {
        if !task.uses.is_empty() {
            let uses: Vec<(usize, HandleUse)> = task.uses.iter().map(|seen| (function, *seen)).collect();
            return self.of_uses(&uses);
        }
        if !task.fields.is_empty() {
            return self.in_fields(task);
        }
        if task.returned || task.passed { Handle::Elsewhere } else { Handle::Dropped }
    }

    /// What the methods of the types that hold the handle do with it.
    fn in_fields(&self, task: &trace::Task) -> Handle {
        let known = task.fields.iter().filter_map(|field| self.evaluator.handle_fields.get(field));
        let uses: Vec<(usize, HandleUse)> = known.flatten().copied().collect();
        if uses.is_empty() { Handle::Elsewhere } else { self.of_uses(&uses) }
    }

    fn of_uses(&self, uses: &[(usize, HandleUse)]) -> Handle {
        if uses.iter().all(|(function, seen)| self.is_released_before(*function, seen.position)) {
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

    /// Whether a function deletes a key, or a row of the renewed table, before this position of its trace.
    fn is_released_before(&self, function: usize, position: usize) -> bool {
        let Some(trace) = self.evaluator.trace(function) else { return false };
        trace.operations.iter().take(position).any(|operation| {
            !operation.context.spawned
                && match &operation.action {
                    trace::Action::Delete { .. } => true,
                    trace::Action::Script(call) => deletes(&call.source),
                    trace::Action::Sql(call) => self.deletes_row(&call.text),
                    _ => false,
                }
        })
    }

    fn deletes_row(&self, text: &Value) -> bool {
        let trace::Action::Sql(renewal) = &self.operation.action else { return false };
        // Only what inserts can bring the row back.
        let renewed = table_behind(&renewal.text, "insert into ");
        renewed.is_some() && table_behind(text, "delete from ") == renewed
    }
}

/// The table whose name stands behind the verb that a statement begins with.
fn table_behind(statement: &Value, verb: &str) -> Option<String> {
    let text = statement.as_text()?.trim_start().to_ascii_lowercase();
    let rest = text.strip_prefix(verb)?;
    let end = rest.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(rest.len());
    Some(rest[..end].to_owned())
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
