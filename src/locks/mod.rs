//! The workspace's lock inventory: what every rule reads.
//!
//! It is put together from the resolved operations of all files. It knows no parser, makes no finding
//! and reads no file.

pub mod binary;
pub mod clock;
pub mod key;
pub mod operation;
pub mod statement;
pub mod vocabulary;

use crate::facts::{FileId, Location, Span};

pub use binary::{Binary, LeaseUse, SigtermHandling};
pub use clock::{ClockFlow, ClockFlowKind};
pub use key::{Evidence, Key};
pub use operation::{Action, Operation, OwnerCheck, OwnerValue, ReplyUse, Sequence, Ttl};
pub use statement::{CountUse, Executor, SqlSite, StatementOrigin, TransactionScope};

/// Everything that rules may look at.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Keys of key-value stores, locks and others.
    pub keys: Vec<Key>,
    /// What each function does to them.
    pub sequences: Vec<Sequence>,
    /// Wall-clock readings that end up in a lease.
    pub clock_flows: Vec<ClockFlow>,
    pub binaries: Vec<Binary>,
    /// Every SQL statement of the workspace, from files and from Rust text.
    pub statements: Vec<SqlSite>,
    /// Input that could not be read or parsed.
    pub problems: Vec<InputProblem>,
}

/// A file, or a part of one, that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputProblem {
    pub file: FileId,
    /// Where the trouble is; the start of the file when that is not known.
    pub span: Span,
    /// What is wrong, lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl InputProblem {
    pub fn location(&self) -> Location {
        Location { file: self.file, span: self.span }
    }
}
