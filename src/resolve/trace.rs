//! The trace of one function: what it does to stores, in order, under which conditions, and what becomes
//! of the replies. Traces are instantiated at call sites, so that helpers are seen from their callers.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::facts::Location;
use crate::locks::{Advice, OnFailure};

use super::flows::Few;
use super::models::{MergeWords, Refusal};
use super::value::{Expiry, HttpRequest, Moment, OperationIndex, Value, WriteCondition};

/// How many operations of a callee are carried into its callers. Bounds the work on long call chains.
pub const MAX_OPERATIONS: usize = 256;

#[derive(Debug, Clone, Default)]
pub struct Trace {
    pub operations: Vec<Operation>,
    pub result: Value,
    /// The fields of what it gives, wherever it returns, with the replies in them.
    pub given: Vec<(Rc<str>, Few<OperationIndex>)>,
    /// The parameters that it asks how many rows their last statement has changed.
    pub counted_params: Few<usize>,
    /// For each pipeline made here: whether it runs as MULTI … EXEC.
    pub pipelines: Vec<bool>,
    /// For each parameter: whether the function tests it, or hands it on to code that may.
    pub tested_params: Vec<bool>,
    /// Comparisons and constructions that a wall clock reading flows into.
    pub clock_uses: Vec<ClockUse>,
    /// Spans of time counted from a reading of a monotonic clock.
    pub deadlines: Vec<Deadline>,
    /// The tasks and threads that it starts.
    pub tasks: Vec<Task>,
    /// Where its own body may leave it early.
    pub exits: Vec<Exit>,
    /// Where it runs the closures that it is given, in order.
    pub closure_runs: Vec<ClosureRun>,
    /// Where its own flow waits for a signal that asks the process to end.
    pub waits: Vec<SignalWait>,
    /// Behind such a wait, it waits for something else.
    pub waits_for_others: bool,
}

/// A call of a parameter.
#[derive(Debug, Clone)]
pub struct ClosureRun {
    pub param: usize,
    pub args: Vec<Value>,
    pub guards: Rc<GuardList>,
    pub context: Context,
    /// How many operations came before it.
    pub position: usize,
}

/// `?`, `return`, `bail!` and their like.
#[derive(Debug, Clone)]
pub struct Exit {
    pub location: Location,
    pub guards: Rc<GuardList>,
    /// The replies in the value that it leaves with, or asks.
    pub replies: BTreeSet<OperationIndex>,
    /// How many operations came before it.
    pub position: usize,
    /// It leaves this loop, or its round, and not the function.
    pub in_loop: Option<u32>,
}

/// A span of time that begins with a reading of a monotonic clock.
#[derive(Debug, Clone)]
pub struct Deadline {
    pub from: Moment,
    pub length: DeadlineLength,
    /// Something is taken off it.
    pub has_margin: bool,
    /// The conditions that hold where the clock is read, or the span is counted.
    pub guards: Rc<GuardList>,
    pub spawned_at: Option<Location>,
}

#[derive(Debug, Clone)]
pub enum DeadlineLength {
    Span(Box<Value>),
    /// It is kept in a field, whose age may be looked at later.
    OfField(FieldName),
}

/// A wait for a signal that asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalWait {
    /// Where the signal is named.
    pub signal: Location,
    /// How many operations came before it.
    pub position: usize,
    /// The arm of the `select!` that it is in.
    pub arm: Option<(u32, u32)>,
}

/// A task or thread, and what becomes of its handle.
#[derive(Debug, Clone)]
pub struct Task {
    /// The call that starts it.
    pub location: Location,
    /// How many exits of the function came before it.
    pub exits: usize,
    /// An exit between its start and the first use of its handle, which leaves it running.
    pub left_by: Option<Location>,
    pub uses: Vec<HandleUse>,
    /// The handle is part of the result.
    pub returned: bool,
    /// It was handed to code that is not followed.
    pub passed: bool,
    /// The fields that it was put into, by the type that has them.
    pub fields: Vec<FieldName>,
}

/// A field, by the name of the type that has it and its own.
pub type FieldName = (Rc<str>, Rc<str>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleUse {
    pub kind: HandleUseKind,
    /// How many operations came before it, or before the first word to the task to stop.
    pub position: usize,
    /// The `select!` of the function that it is in, and which arm.
    pub arm: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleUseKind {
    /// `abort()`.
    Abort,
    /// `.await` behind a word to stop.
    AwaitStopped,
    /// `.await`, `join()`, or a `select!` on it.
    Await,
    /// `is_finished()`.
    Ask,
}

impl HandleUseKind {
    /// Whoever does it goes on when the task has ended.
    pub fn sees_the_end(self) -> bool {
        matches!(self, Self::Await | Self::AwaitStopped)
    }
}

#[derive(Debug, Clone)]
pub struct Operation {
    pub action: Action,
    pub key: Value,
    /// What is stored, or compared with.
    pub value: Option<Value>,
    /// The call, in the file where it is written.
    pub location: Location,
    /// The calls that lead to it from the traced function, outermost first.
    pub via: Vec<Location>,
    /// The function in whose body it is written.
    pub function: usize,
    pub guards: Rc<GuardList>,
    pub pipeline: Option<usize>,
    pub context: Context,
    pub uses: Uses,
    /// The name of the connection, pool or transaction that it runs on.
    pub session: Option<Rc<str>>,
    /// How many of the innermost calls in `via` lie between it and the code that names its key; `None`
    /// while the key is a parameter.
    pub named_at: Option<usize>,
    /// A caller decided that the key gets no expiry.
    pub expiry_from_caller: bool,
    /// The loop that repeats it, once the function with that loop has been evaluated.
    pub repetition: Option<Repetition>,
    /// Code between it and the function of this trace does something when it fails.
    pub failure_told: bool,
    /// Its library's keys are locks.
    pub is_lock: bool,
    /// How the caller hears that a condition did not hold.
    pub refusal: Refusal,
    pub advice: Option<Arc<Advice>>,
    /// The replies in the values in scope that do something when they are dropped: guards that live here.
    pub kept: Few<OperationIndex>,
}

/// What a loop does with an operation that it repeats.
#[derive(Debug, Clone)]
pub struct Repetition {
    /// The loop.
    pub location: Location,
    /// How many of the innermost calls in `via` lie between the loop and the operation.
    pub calls: usize,
    /// The pause between two rounds: where it is written, and how long it is.
    pub pause: Option<(Location, Value)>,
    pub on_failure: OnFailure,
    /// How many failures in a row it takes before the loop does something about them, where it counts.
    pub failures_borne: Option<i128>,
    /// Something other than its operations can end it.
    pub can_be_stopped: bool,
}

/// The conditions that hold where an operation runs, innermost first.
#[derive(Debug, Default)]
pub struct GuardList {
    pub guard: Option<(Value, bool)>,
    pub outer: Option<Rc<GuardList>>,
}

impl GuardList {
    pub fn iter(&self) -> impl Iterator<Item = &(Value, bool)> {
        let mut at = Some(self);
        std::iter::from_fn(move || {
            while let Some(list) = at {
                at = list.outer.as_deref();
                if let Some(guard) = &list.guard {
                    return Some(guard);
                }
            }
            None
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// How many loops are around it.
    pub loops: u16,
    /// Inside a task or thread that was started and not awaited on the spot.
    pub spawned: bool,
    /// The call that started the innermost such task, in this function or in a caller.
    pub spawned_at: Option<Location>,
    /// Inside `Drop::drop`.
    pub in_drop: bool,
    /// Behind a `sleep`, on the same path.
    pub after_sleep: bool,
    /// Behind a wait for a signal that asks the process to end, or in its handler.
    pub after_signal: bool,
    /// In a closure that a `transaction(…)` call runs.
    pub in_transaction: bool,
    /// In a future that was put beside others and runs when somebody asks for all of them.
    pub put_aside: bool,
    /// In a future of a `select!`, which another arm may end.
    pub raced: bool,
    /// In a future that a call such as `run_until_cancelled(…)` may end.
    pub stoppable: bool,
    /// The `select!` of the function under evaluation that it is in, and which arm.
    pub arm: Option<(u32, u32)>,
    /// The innermost loop of the function under evaluation around it.
    pub innermost: Option<u32>,
}

impl Context {
    /// As it is where the function around it was called.
    #[must_use]
    pub fn within(&self, call: &Context) -> Context {
        Context {
            loops: self.loops + call.loops,
            spawned: self.spawned | call.spawned,
            spawned_at: self.spawned_at.or(call.spawned_at),
            in_drop: self.in_drop | call.in_drop,
            after_sleep: self.after_sleep | call.after_sleep,
            after_signal: self.after_signal | call.after_signal,
            in_transaction: self.in_transaction | call.in_transaction,
            stoppable: self.stoppable | call.stoppable,
            put_aside: self.put_aside | call.put_aside,
            raced: self.raced | call.raced,
            arm: call.arm,
            innermost: call.innermost,
        }
    }
}

/// What becomes of an operation's reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Uses {
    /// Its error alone was looked at.
    pub error_tested: bool,
    /// An error was replaced with `true`.
    pub error_is_yes: bool,
    /// Its value reached a condition, a pattern, or a function that tests it.
    pub tested: bool,
    /// Its value reached a comparison, whose yes or no may be dropped in turn.
    pub compared: bool,
    /// It is (part of) the function's result.
    pub returned: bool,
    /// It was handed to code that is not followed.
    pub passed: bool,
    /// The connection was asked for the count afterwards.
    pub count_read: bool,
}

#[derive(Debug, Clone)]
pub enum Action {
    Set {
        condition: WriteCondition,
        expiry: Expiry,
        returns_old: bool,
    },
    Get,
    Exists,
    Delete {
        condition: WriteCondition,
    },
    Expire {
        expiry: Expiry,
    },
    Increment,
    Watch,
    Unwatch,
    /// A lease, or a session, is made, to which keys can be tied.
    Grant {
        expiry: Expiry,
    },
    /// The lease under the key gets more time.
    KeepAlive,
    /// The lease under the key ends, and with it the keys tied to it.
    Revoke,
    /// A request over HTTP whose URL is still a parameter.
    Request(Rc<HttpRequest>),
    /// A document is merged into the object under the key; what that does is in the document.
    Merge(Rc<MergeCall>),
    Script(Rc<ScriptCall>),
    Sql(Rc<SqlCall>),
    /// The pipeline of this number was sent.
    SendPipeline(usize),
    /// `transaction.commit()`, or the end of a `begin`.
    Begin,
    Commit,
    Rollback,
    /// The process is ended. `told`: the same flow has told others to stop before.
    Exit {
        told: bool,
    },
}

impl Action {
    /// A write that asks for the revision that was read, whatever is stored.
    pub fn is_optimistic(&self) -> bool {
        matches!(
            self,
            Action::Set { condition: WriteCondition::IfUnchanged, .. }
                | Action::Delete { condition: WriteCondition::IfUnchanged }
        )
    }

    pub fn is_tied_to_lease(&self) -> bool {
        matches!(self, Action::Set { expiry: Expiry::Lease(_), .. })
    }

    pub fn has_no_expiry(&self) -> bool {
        matches!(self, Action::Set { expiry: Expiry::None, .. })
    }
}

#[derive(Debug)]
pub struct MergeCall {
    pub document: Value,
    pub words: MergeWords,
}

#[derive(Debug)]
pub struct ScriptCall {
    pub source: Value,
    pub keys: Vec<Value>,
    pub args: Vec<Value>,
    /// `source` is the name of a function in a library that the server has loaded.
    pub is_function: bool,
}

#[derive(Debug, Clone)]
pub struct SqlCall {
    pub text: Value,
    pub binds: Vec<Value>,
    pub executor: Value,
    /// The method that ran it, such as `execute` or `fetch_optional`.
    pub method: Rc<str>,
    /// `query_file!`.
    pub file: Option<Rc<str>>,
}

#[derive(Debug, Clone)]
pub struct ClockUse {
    pub location: Location,
    pub function: usize,
    pub kind: ClockUseKind,
}

#[derive(Debug, Clone)]
pub enum ClockUseKind {
    /// A wall-clock reading compared for order with another value.
    Compared { reading: Value, with: Value },
    /// A wall-clock reading taken from another value, or the other way round: a remaining time or an age.
    Subtracted { reading: Value, with: Value },
    /// A wall-clock reading stored in a field of a new value of this type.
    Stored { ty: Rc<str>, field: Rc<str>, reading: Value },
}

impl Trace {
    pub fn mark(&mut self, operation: OperationIndex, change: impl FnOnce(&mut Uses)) {
        if let Some(operation) = self.operations.get_mut(operation) {
            change(&mut operation.uses);
        }
    }
}
