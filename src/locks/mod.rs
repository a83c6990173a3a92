//! The workspace's lock inventory: what every rule reads.
//!
//! It is put together from the resolved operations of all files. It knows no parser, makes no finding
//! and reads no file.

pub mod guard;
pub mod naming;
pub mod rows;
pub mod schema;
pub mod statement;
pub mod tables;

use std::sync::OnceLock;

use crate::facts::{FileId, Location, Span};

pub use rows::{unguarded_row_releases, unguarded_row_renewals};
pub use schema::Schema;
pub use statement::{CountUse, Executor, SqlSite, StatementOrigin, TransactionScope};
pub use tables::Tables;

/// Everything that rules may look at.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Every SQL statement of the workspace, from files and from Rust text.
    pub statements: Vec<SqlSite>,
    /// The tables that the migrations lead to, with what was learnt from Rust text.
    pub schema: Schema,
    /// What the tables are to locking, worked out when it is first asked for.
    tables: OnceLock<Tables>,
    /// Input that could not be read or parsed.
    pub problems: Vec<InputProblem>,
}

impl Inventory {
    /// An inventory of these statements over this schema.
    pub fn new(statements: Vec<SqlSite>, schema: Schema) -> Self {
        Self { statements, schema, ..Self::default() }
    }

    pub fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| Tables::of(self))
    }
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
