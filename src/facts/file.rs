//! What the front ends say about one file of the run, whatever its language.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::FileId;
use super::lua::LuaFile;
use super::rust::RustFile;
use super::sql::{Dialect, SqlText};
use super::suppression::FileSuppressions;

/// A file that was parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedFile {
    pub file: FileId,
    pub facts: Arc<FileFacts>,
    pub suppressions: FileSuppressions,
}

impl ParsedFile {
    /// Whether its code was parsed.
    pub fn is_readable(&self) -> bool {
        match &*self.facts {
            FileFacts::Rust(_) | FileFacts::Sql(..) => true,
            FileFacts::Lua(file) => file.problem.is_none(),
            FileFacts::Unreadable => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileFacts {
    Rust(RustFile),
    /// With the dialect that its content was parsed as.
    Sql(SqlText, Dialect),
    Lua(LuaFile),
    /// The text does not parse, or is no text; only its comments could be read.
    Unreadable,
}
