//! What could not be read: a file, or a part of one, with the reason and the remedy.

use serde::{Deserialize, Serialize};

use super::{FileId, Location, Span};

/// A file, or a part of one, that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
