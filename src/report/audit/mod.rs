//! An audit for people and for programs, and what has changed between two of them.

mod difference;
mod html;
mod human;
mod json;
mod markdown;
mod style;

use crate::audit::{Audit, LockAudit, Use, Verdict};
use crate::facts::Location;
use crate::finding::Finding;

use super::SourceView;
use super::places::Places;
use super::sanitize;

pub use difference::{write_difference, write_difference_json};
pub use html::write as write_html;
pub use human::write as write_human;
pub use json::{SCHEMA, write as write_json};
pub use markdown::write as write_markdown;

/// What every form of an audit is made of.
pub struct Document<'a> {
    pub audit: &'a Audit,
    pub findings: &'a [Finding],
    pub sources: &'a dyn SourceView,
}

impl<'a> Document<'a> {
    fn places(&self) -> Places<'a> {
        Places::new(self.sources)
    }

    fn finding(&self, at: usize) -> Option<&'a Finding> {
        self.findings.get(at)
    }
}

/// Such as `src/lib.rs:12`.
fn place(location: Location, places: &mut Places<'_>) -> String {
    let line = places.bounded(location).start.line;
    format!("{}:{line}", sanitize::line(places.path(location)))
}

/// The parts of a lock's life, with their headings.
fn lives(lock: &LockAudit) -> [(&'static str, &[Use]); 4] {
    [
        ("acquired", &lock.acquired),
        ("renewed", &lock.renewed),
        ("released", &lock.released),
        ("written", &lock.written),
    ]
}

/// Why a verdict is what it is, findings left out.
fn reason(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Holds(reason) | Verdict::Unknown(reason) => reason,
        Verdict::Fails(_) => "",
    }
}

fn failed(verdict: &Verdict) -> &[usize] {
    match verdict {
        Verdict::Fails(findings) => findings,
        Verdict::Holds(_) | Verdict::Unknown(_) => &[],
    }
}

/// `3 locks: storage holds for 1, …` in short.
fn closing_line(audit: &Audit) -> String {
    let count = |word: &str| {
        audit.locks.iter().flat_map(|lock| &lock.verdicts).filter(|verdict| verdict.word() == word).count()
    };
    let locks = audit.locks.len();
    let noun = if locks == 1 { "lock" } else { "locks" };
    format!(
        "{locks} {noun}; of {} verdicts {} hold, {} fail, {} cannot be told",
        locks * 4,
        count("holds"),
        count("fails"),
        count("cannot tell")
    )
}
