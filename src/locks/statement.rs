//! SQL statements with their surroundings: where they were written, who runs them, in which
//! transaction, and what becomes of their affected-row count.

use super::renewal::Repetition;
use crate::facts::sql::{Bind, Dialect, Statement};
use crate::facts::{FileId, Location, Span, TextMap};

/// One statement of the workspace.
#[derive(Debug, Clone)]
pub struct SqlSite {
    /// Its spans are relative to the text that `source` maps.
    pub statement: Statement,
    pub dialect: Dialect,
    pub source: StatementText,
    pub origin: StatementOrigin,
    /// The call that runs it, when it is run from Rust.
    pub call: Option<Location>,
    /// `false` when pieces of the text are unknown in places where a predicate could stand.
    pub complete: bool,
    pub count: CountUse,
    /// The caller that drops the count, when the function that runs it hands it on.
    pub count_dropped_by: Option<Location>,
    /// Nothing looks at what comes back, rows included.
    pub reply_dropped: bool,
    /// Its count is dropped in a function whose whole result every caller throws away.
    pub is_best_effort: bool,
    /// The lock of the session or transaction that it takes or frees.
    pub session_lock: Option<SessionLock>,
    pub executor: Executor,
    pub transaction: TransactionScope,
    /// Under `#[cfg(test)]`, `tests/`, `benches/`, `examples/`.
    pub is_test: bool,
    /// The Rust function that runs it, such as `Outbox::sent`.
    pub function: Option<String>,
    /// The package whose manifest is nearest above the file; statements of one package share a database
    /// unless something says otherwise.
    pub package: Option<usize>,
    /// SELECTs of the same table whose rows were compared with something for this statement to run.
    pub compared_reads: Vec<Location>,
    /// A value that it gave was compared for order with this process's clock.
    pub is_timed: bool,
    /// The loops that repeat it, in this function and in its callers.
    pub repetitions: Vec<Repetition>,
    /// For each bind position (from 0): the Rust argument, as far as it matters to a verdict.
    pub binds: Vec<BoundValue>,
}

/// The text that a statement was parsed from, and how it maps to a file.
#[derive(Debug, Clone)]
pub struct StatementText {
    pub file: FileId,
    pub map: TextMap,
}

impl SqlSite {
    /// The place in the source of a span inside the statement's text.
    pub fn at(&self, span: Span) -> Location {
        Location { file: self.source.file, span: self.source.map.source_span(span) }
    }

    /// What the program binds to a parameter.
    pub fn bound(&self, parameter: &Bind) -> Option<&BoundValue> {
        match parameter {
            Bind::Position(number) => self.binds.get(usize::try_from(*number).ok()?.checked_sub(1)?),
            Bind::Name(name) => self.binds.iter().find(|bind| bind.parameter.as_deref() == Some(name)),
        }
    }

    /// Not a test, and not DML at a migration's top level, which is a back-fill under the migration's own lock.
    pub fn is_at_runtime(&self) -> bool {
        !self.is_test && !matches!(self.origin, StatementOrigin::Migration | StatementOrigin::Snapshot)
    }

    /// The place of the whole statement.
    pub fn location(&self) -> Location {
        self.at(self.statement.span)
    }
}

/// What a statement does to a lock that belongs to a session or transaction rather than to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionLock {
    pub act: SessionAct,
    /// It ends with the transaction, as `pg_advisory_xact_lock` does.
    pub for_transaction: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionAct {
    /// Waits for it: `pg_advisory_lock`.
    Take,
    /// Takes it if it is free and says so: `pg_try_advisory_lock`, `GET_LOCK`.
    Try,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementOrigin {
    /// Top level of a migration: DDL, and DML that is a back-fill.
    Migration,
    /// A schema dump, such as `schema.sql`.
    Snapshot,
    /// A `.sql` file that code refers to or that was named on the command line.
    QueryFile,
    /// The body of a stored function or procedure, wherever it was created.
    Routine,
    /// The body of a trigger or of its function.
    Trigger,
    /// Text in a Rust file.
    Embedded,
}

/// What happens to the number of rows that a statement changed (or to the rows that it returned).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountUse {
    /// It reaches a comparison, a `match`, an assertion, or an error for "no row".
    Checked,
    /// The function hands it, or a value made from it, to its caller.
    Returned,
    /// It is dropped: `…execute(…).await?;`, `let _ = …`, or only logged.
    Ignored,
    /// The text does not show it.
    Unknown,
}

/// What the statement is run on, as far as the receiver's or argument's type or name shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Executor {
    Pool,
    Transaction,
    Connection,
    Unknown,
}

/// What the surrounding transaction has done before this statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionScope {
    /// Inside a transaction at all.
    pub open: bool,
    /// Tables of which it has locked rows before (`SELECT … FOR UPDATE`), by folded name.
    pub locked_tables: Vec<String>,
    /// It has checked a lease or fence row before, by a statement that compares a token or an owner.
    pub checked_tables: Vec<String>,
    /// The same session took an advisory lock before.
    pub advisory_lock: bool,
}

/// What is known of a value bound to a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundValue {
    /// The Rust expression's name, such as `token` or `now`.
    pub name: Option<String>,
    /// The parameter's name in the statement, where it is bound by name.
    pub parameter: Option<String>,
    /// Made from a reading of this process's wall clock, at this place.
    pub wall_clock: Option<Location>,
    /// A constant of the program.
    pub constant: Option<String>,
    /// Drawn by this process, where nothing that the store has said flows in.
    pub drawn: Option<Drawn>,
}

/// A value that a process makes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    pub from: DrawnFrom,
    pub location: Location,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnFrom {
    WallClock,
    /// A random number, a UUID.
    Chance,
}
