//! The workspace's lock inventory: what every rule reads.
//!
//! It is put together from the resolved operations of all files. It knows no parser, makes no finding
//! and reads no file.

pub mod guard;
pub mod naming;
pub mod schema;
pub mod statement;

use crate::facts::{FileId, Location, Span};

pub use schema::Schema;
pub use statement::{CountUse, Executor, SqlSite, StatementOrigin, TransactionScope};

/// Everything that rules may look at.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Every SQL statement of the workspace, from files and from Rust text.
    pub statements: Vec<SqlSite>,
    /// The tables that the migrations lead to, with what was learnt from Rust text.
    pub schema: Schema,
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
