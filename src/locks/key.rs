//! Keys of key-value stores, and the evidence that one of them is a lock.

use crate::facts::Location;

/// A key by its template; all operations on it in the workspace share one entry.
#[derive(Debug, Clone)]
pub struct Key {
    /// The template, such as `job-lock:{}`, or a description such as `Turnstile.key`.
    pub name: String,
    /// Why it is believed to be a lock, or not.
    pub evidence: Vec<Evidence>,
    /// Where it is taken with NX.
    pub acquires: Vec<Location>,
    /// No more is known of it than that a caller gives it.
    pub is_parameter: bool,
    /// A part of its text is known, so that it can be told from other keys.
    pub is_written: bool,
}

/// One reason, with its weight: positive for a lock, negative against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub weight: i32,
    pub reason: &'static str,
}

/// Reasons must weigh this much together.
const ENOUGH: i32 = 3;

impl Key {
    pub fn weight(&self) -> i32 {
        self.evidence.iter().map(|evidence| evidence.weight).sum()
    }

    pub fn is_lock(&self) -> bool {
        self.weight() >= ENOUGH
    }
}
