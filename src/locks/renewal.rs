//! Renewal loops: operations that give a lease more time, with the loop that repeats them, its pause, what
//! it does when a renewal fails, and the task that it runs in. Whether any of that is a defect is for rules.

use crate::facts::Location;

use super::operation::{Action, Lifetime, Operation, Sequence, Ttl};
use super::rows::renewal_statements;
use super::{Inventory, SqlSite};

/// A loop around an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Repetition {
    /// The loop.
    pub location: Location,
    /// The operation, or the call of the helper that leads to it, inside the loop.
    pub call: Location,
    /// No helper lies between the two.
    pub is_direct: bool,
    pub pause: Option<Pause>,
    pub on_failure: OnFailure,
    /// How many failures in a row it takes before the loop does something about them, where it counts.
    pub failures_borne: Option<i128>,
    /// The task or thread that the loop runs in, when this function starts it.
    pub task: Option<Task>,
    /// Something other than a failed renewal can end it.
    pub can_be_stopped: bool,
}

/// The pause between two rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Pause {
    pub location: Location,
    pub length: Lifetime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// At most something is logged.
    GoesOn,
    /// The loop ends, and nothing more.
    Ends,
    /// Other code is told, or may be.
    Tells,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    pub started_at: Location,
    pub handle: Handle,
    /// The function with its handle may leave here before it stops the task.
    pub left_by: Option<Location>,
}

/// What becomes of the handle of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    Dropped,
    /// It is aborted or awaited, and only after the lock was released.
    StoppedAfterRelease,
    /// It is aborted, and nobody would see the task end before that.
    Stopped,
    /// Somebody sees the task end.
    Watched,
    /// It goes where it is not followed.
    Elsewhere,
}

/// A TTL and a renewal interval that one constructor gives to the fields of one value, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct RenewalDefault {
    /// The interval, or the time before the end at which the renewal comes.
    pub location: Location,
    pub ttl_at: Location,
    pub ty: String,
    pub field: String,
    pub interval: i128,
    pub ttl: i128,
}

/// A renewal that a loop repeats.
#[derive(Debug, Clone)]
pub struct RenewalLoop<'a> {
    pub lock: String,
    pub repetition: &'a Repetition,
    /// How long each renewal makes the lease last.
    pub ttl: Lifetime,
    /// The renewal compares the owner in the same step.
    pub compared: bool,
    /// The text of the statement, for renewals of rows.
    pub statement: Option<Location>,
}

pub(super) fn of(inventory: &Inventory) -> Vec<RenewalLoop<'_>> {
    let mut found: Vec<RenewalLoop<'_>> = Vec::new();
    for sequence in &inventory.sequences {
        let renewals =
            sequence.operations.iter().filter(|operation| is_renewal(inventory, sequence, operation));
        found.extend(renewals.filter_map(|operation| of_operation(inventory, operation)));
    }
    for (site, table, ttl, compared) in renewal_statements(inventory) {
        found.extend(
            site.repetitions.iter().map(|repetition| of_statement(site, repetition, table, ttl, compared)),
        );
    }
    found
}

fn is_renewal(inventory: &Inventory, sequence: &Sequence, operation: &Operation) -> bool {
    let gives_time = matches!(operation.action, Action::Expire { .. })
        || matches!(operation.action, Action::Overwrite { only_if_present: true, .. });
    gives_time
        && inventory.keys[operation.key].is_lock()
        && !operation.is_test
        && !sequence.completes_an_acquire(operation)
        && !is_of_one_term(sequence, operation)
}

/// Whether the loop takes the lease anew in each round: then it repeats terms, not renewals.
fn is_of_one_term(sequence: &Sequence, operation: &Operation) -> bool {
    let loop_of = |operation: &Operation| operation.repetition.as_ref().map(|known| known.location);
    let own = loop_of(operation);
    own.is_some()
        && sequence.operations.iter().any(|other| {
            let before = other.step < operation.step;
            before && other.key == operation.key && other.action.is_acquire() && loop_of(other) == own
        })
}

fn of_operation<'a>(inventory: &'a Inventory, operation: &'a Operation) -> Option<RenewalLoop<'a>> {
    let repetition = operation.repetition.as_ref()?;
    let (Action::Expire { ttl, .. } | Action::Overwrite { ttl, .. }) = &operation.action else { return None };
    let given = match ttl {
        Ttl::Given(lifetime) if lifetime.is_known() => lifetime.clone(),
        _ => ttl_at_acquire(inventory, operation.key),
    };
    Some(RenewalLoop {
        lock: inventory.keys[operation.key].name.clone(),
        repetition,
        ttl: given,
        compared: matches!(operation.action, Action::Expire { compared: true, .. }),
        statement: None,
    })
}

fn of_statement<'a>(
    site: &SqlSite,
    repetition: &'a Repetition,
    table: &str,
    ttl: Option<i128>,
    compared: bool,
) -> RenewalLoop<'a> {
    RenewalLoop {
        lock: table.to_owned(),
        repetition,
        ttl: Lifetime { millis: ttl, ..Lifetime::UNKNOWN },
        compared,
        statement: Some(site.location()),
    }
}

/// The lifetime with which the key is taken, when all code that takes it agrees.
fn ttl_at_acquire(inventory: &Inventory, key: usize) -> Lifetime {
    let operations = inventory.sequences.iter().flat_map(|sequence| &sequence.operations);
    let mut known =
        operations.filter(|operation| operation.key == key && !operation.is_test).filter_map(|o| {
            match &o.action {
                Action::Acquire { ttl: Ttl::Given(lifetime), .. } if lifetime.is_known() => Some(lifetime),
                _ => None,
            }
        });
    let Some(first) = known.next() else { return Lifetime::UNKNOWN };
    if known.all(|other| (other.millis, &other.share) == (first.millis, &first.share)) {
        first.clone()
    } else {
        Lifetime::UNKNOWN
    }
}
