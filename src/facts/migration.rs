//! What a `.sql` file is for, and where it stands in its history.

use serde::{Deserialize, Serialize};

use super::sql::{Dialect, Section};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SqlFileRole {
    /// One step of a schema's history.
    Migration {
        /// The folder that the migration tool reads: migrations of one root are one history.
        root: String,
        /// Migrations of a root run in ascending order of it.
        order: OrderKey,
        /// The section of statements that stand under no mark of their own.
        section: Section,
        /// The database that the file's name says it is for, where each migration has a file for each.
        dialect: Option<Dialect>,
        /// Its text has the marks of a tool, whatever its name.
        marked: bool,
    },
    /// A dump of a whole schema: a source of tables where there is no history.
    Snapshot,
    /// Statements that a program runs.
    Query,
    Unknown,
}

/// Where a migration stands in its history.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OrderKey {
    /// Flyway runs its repeatable migrations after all others.
    pub repeatable: bool,
    /// The numbers of the version, such as `[1, 2]` for `V1_2__x`.
    pub version: Vec<u128>,
    /// The name, for files of one version and for tools that order by it.
    pub name: String,
}
