//! Repetitions: the loops around operations, with their pauses as lifetimes and the fate of the task that
//! they run in.

use std::rc::Rc;

use crate::locks::renewal::{Handle, OnFailure, Pause, Repetition, Task};
use crate::locks::{Lifetime, Share};

use super::super::evaluate::Evaluator;
use super::super::trace::{self, HandleUse, HandleUseKind, Trace};
use super::super::value::{Form, Symbol, Value};
use super::keys::field_values;
use crate::resolve::quantity::Ratio;

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
        on_failure: match known.on_failure {
            trace::OnFailure::GoesOn => OnFailure::GoesOn,
            trace::OnFailure::Ends => OnFailure::Ends,
            trace::OnFailure::Tells => OnFailure::Tells,
        },
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
    let handle = match trace.tasks.iter().find(|task| task.location == started_at) {
        Some(task) => handle(evaluator, function, task),
        None => Handle::Elsewhere,
    };
    Some(Task { started_at, handle })
}

fn handle(evaluator: &Evaluator<'_>, function: usize, task: &trace::Task) -> Handle {
    if !task.uses.is_empty() {
        let uses: Vec<(usize, HandleUse)> = task.uses.iter().map(|seen| (function, *seen)).collect();
        return of_uses(evaluator, &uses);
    }
    if task.returned || task.passed {
        return if task.fields.is_empty() { Handle::Elsewhere } else { in_fields(evaluator, task) };
    }
    if task.fields.is_empty() { Handle::Dropped } else { in_fields(evaluator, task) }
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
    let mut aborted = Vec::new();
    for (function, seen) in uses {
        match seen.kind {
            HandleUseKind::Abort => aborted.push(*function),
            // Awaiting what was aborted shows nothing of how the work went.
            HandleUseKind::Await if aborted.contains(function) => {}
            HandleUseKind::Await | HandleUseKind::Ask => {
                let late =
                    uses.iter().all(|(function, seen)| releases_before(evaluator, *function, seen.position));
                return if late { Handle::StoppedAfterRelease } else { Handle::Watched };
            }
        }
    }
    let late = uses.iter().all(|(function, seen)| releases_before(evaluator, *function, seen.position));
    if late { Handle::StoppedAfterRelease } else { Handle::Stopped }
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

/// A span of time; plain numbers count `unit` milliseconds each.
pub fn lifetime(evaluator: &Evaluator<'_>, value: &Value, unit: i128) -> Lifetime {
    let (of, by) = match &value.form {
        Form::Duration(millis) => return Lifetime { millis: Some(*millis), share: None },
        Form::Int(number) => return Lifetime { millis: number.checked_mul(unit), share: None },
        Form::Scaled(scaled) => (scaled.of.clone(), scaled.by),
        Form::Symbol(_) => (value.clone(), Ratio::ONE),
        _ => {
            let number = value.as_text().and_then(|text| text.parse::<i128>().ok());
            return Lifetime { millis: number.and_then(|number| number.checked_mul(unit)), share: None };
        }
    };
    let unit = if is_span(value) { 1 } else { unit };
    let Some(by) = by.times(Ratio::whole(unit)) else { return Lifetime::UNKNOWN };
    let millis = by_default(evaluator, &of)
        .and_then(|whole| whole.checked_mul(by.numerator))
        .map(|n| n / by.denominator);
    let share = name(&of).map(|of| Share { of, numerator: by.numerator, denominator: by.denominator });
    Lifetime { millis, share }
}

fn is_span(value: &Value) -> bool {
    let spans = ["Duration", "TimeDelta", "SignedDuration", "Interval"];
    value
        .ty
        .as_ref()
        .is_some_and(|ty| spans.contains(&ty.name()) || ty.args.iter().any(|arg| spans.contains(&arg.name())))
}

/// The number that every constructor puts into the field that a value is.
fn by_default(evaluator: &Evaluator<'_>, value: &Value) -> Option<i128> {
    let mut numbers = field_values(evaluator, value)?.iter().filter_map(|known| match known.form {
        Form::Duration(number) | Form::Int(number) => Some(number),
        _ => None,
    });
    let first = numbers.next()?;
    numbers.all(|other| other == first).then_some(first)
}

fn name(value: &Value) -> Option<String> {
    let named = |name: &Rc<str>| (!name.is_empty()).then(|| name.to_string());
    match &value.form {
        Form::Symbol(Symbol::Param { name, .. } | Symbol::Local(name) | Symbol::Call(name)) => named(name),
        Form::Symbol(Symbol::Field { owner, name }) => Some(format!("{owner}.{name}")),
        _ => None,
    }
}
