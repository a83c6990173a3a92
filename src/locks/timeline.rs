//! What one function does in order: operations on keys, statements, transactions, and its exits. Which of
//! these steps take or free a lock is worked out in [`super::regions`].

use crate::facts::Location;

/// The steps of one function, its helpers included.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Such as `Importer::run`.
    pub function: String,
    /// The function's name.
    pub location: Location,
    /// Its operations on keys, by their position in [`super::Inventory::sequences`].
    pub sequence: Option<usize>,
    pub steps: Vec<Step>,
    pub exits: Vec<Exit>,
    pub endings: Vec<Ending>,
    pub waits: Vec<SignalWait>,
    /// The tasks that it starts and sees the end of, by the calls that start them.
    pub awaited_tasks: Vec<Location>,
    /// Those that it aborts and does not see the end of.
    pub aborted_tasks: Vec<Location>,
    /// Behind a signal, it waits for something else than its tasks.
    pub waits_for_others: bool,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub kind: StepKind,
    /// Where the function itself makes it, or calls the helper that does.
    pub place: Location,
    /// The operation itself.
    pub inner: Location,
    pub path: Path,
    /// In a task of its own, or in `Drop`.
    pub is_apart: bool,
    /// The call that started the task.
    pub task: Option<Location>,
    /// The `select!` of the function that it is in, and which arm.
    pub arm: Option<(u32, u32)>,
    /// In a future that another arm of a `select!`, or `timeout(…)` and its like, may end.
    pub may_be_dropped: bool,
    /// The innermost loop of the function's body around it.
    pub in_loop: Option<u32>,
    /// The steps whose replies are in what it writes.
    pub made_of: Vec<usize>,
    /// The steps whose replies decide it, in a way that is not known to be a yes.
    pub decided_by: Vec<usize>,
    /// The steps whose replies are in guards that live here, and free something when they are dropped.
    pub kept: Vec<usize>,
    /// The look in memory at a lease that says it is still held where this runs.
    pub check: Option<HeldCheck>,
    /// The steps before it whose keys are made of a value that it binds: of an acquire, the lock of the very row.
    pub binds_key_of: Vec<usize>,
    /// How many calls lie between the function and the step.
    pub depth: usize,
    /// The fields that its reply is put into, in what the function gives.
    pub given_as: Vec<String>,
}

/// A question whether a lease is still held that a process asks itself, without the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCheck {
    pub location: Location,
    /// The method, function or field that answers it, or `None` where a clock is compared.
    pub name: Option<String>,
    /// The type that is asked takes, keeps or frees a lock; otherwise it is called so.
    pub is_of_known_lease: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// An operation of the sequence.
    Key(usize),
    /// A statement, by its position in [`super::Inventory::statements`].
    Statement(usize),
    Begin,
    Commit,
    Rollback,
}

/// `?`, `return`, `bail!` and their like in the function's own body.
#[derive(Debug, Clone)]
pub struct Exit {
    pub location: Location,
    /// How many steps came before it.
    pub position: usize,
    pub path: Path,
    /// The steps whose replies decide it, those left out that are known to have gone well.
    pub decided_by: Vec<usize>,
    /// It leaves this loop, or its round, and not the function.
    pub in_loop: Option<u32>,
}

/// `process::exit` and its like, in the function's own body or in what it calls.
#[derive(Debug, Clone)]
pub struct Ending {
    /// Where the function makes the call, or calls the helper that does.
    pub place: Location,
    /// The call itself.
    pub inner: Location,
    /// The innermost call that leads to it.
    pub helper: Option<Location>,
    /// How many calls lie between the two.
    pub depth: usize,
    /// How many steps came before it.
    pub position: usize,
    pub path: Path,
    /// The steps whose replies decide it, in a way that is not known to be a yes.
    pub decided_by: Vec<usize>,
    /// The steps whose replies are in guards that live here, and are never dropped.
    pub kept: Vec<usize>,
    /// The call that started the task, or installed the handler, that it is in.
    pub task: Option<Location>,
    /// It comes because somebody asked the process to end.
    pub after_signal: bool,
    /// Others were told to stop, or given time, before.
    pub is_last_resort: bool,
}

/// A wait for a signal that asks the process to end.
#[derive(Debug, Clone, Copy)]
pub struct SignalWait {
    pub signal: Location,
    /// How many steps came before it.
    pub position: usize,
    pub arm: Option<(u32, u32)>,
}

/// The conditions under which a step runs, outermost first, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path(pub Vec<u32>);

impl Path {
    /// Whether everything that is known here is known there: whoever comes there has come by here.
    pub fn leads_to(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }
}
