//! Facts: what the front ends say about one file, in plain data.
//!
//! Facts own their data, are serialisable, name no parser type and depend on the bytes of their file
//! only. Everything that looks across files (names, values, locks) happens after them.

pub mod file;
pub mod lines;
pub mod lua;
pub mod migration;
pub mod problem;
pub mod reading;
pub mod rust;
pub mod span;
pub mod sql;
pub mod suppression;
pub mod walk;

use std::sync::Arc;

pub use problem::InputProblem;
pub use span::{FileId, Location, Span, TextMap};

/// The texts that facts were taken from.
pub trait Texts {
    /// `None` for a file whose text was not kept.
    fn text(&self, file: FileId) -> Option<Arc<str>>;
}
