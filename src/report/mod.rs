//! Reports: findings for people and for programs.
//!
//! Each format is one file and a pure function of findings, figures and source text. Reports analyse
//! nothing, read no file and no setting of the environment.

pub mod fingerprint;
pub mod human;
pub mod json;
pub mod sanitize;

#[cfg(test)]
mod sample;

use std::sync::Arc;

use crate::facts::FileId;
use crate::facts::lines::LineIndex;

/// What a report needs to know of the files.
pub trait SourceView {
    /// With `/`, relative to the working directory where it is below it.
    fn path(&self, file: FileId) -> &str;
    /// `None` for a file that could not be read as text.
    fn text(&self, file: FileId) -> Option<Arc<str>>;
}
