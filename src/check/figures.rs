//! How far the SQL files of a run were read: what a silence about them is worth.
//!
//! It counts and names places; it judges nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::FileId;
use crate::facts::file::{FileFacts, ParsedFile};
use crate::facts::reading::Reading;
use crate::facts::sql::{Dialect, Statement, StatementKind};
use crate::sources::Sources;

/// Statements of `.sql` files, those in bodies of routines included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SqlFigures {
    pub by_dialect: BTreeMap<Dialect, SqlCounts>,
    /// Where a statement that a rule might judge was not parsed, as `path:line:column`, and how it was read.
    pub doubtful: Vec<(String, Reading)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlCounts {
    pub parsed: usize,
    /// Told by their words: of no concern to a lock, or used for what they say positively only.
    pub sorted: usize,
    pub unread: usize,
}

impl SqlCounts {
    pub fn statements(self) -> usize {
        self.parsed + self.sorted + self.unread
    }
}

/// The figures of one SQL file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileFigures {
    dialect: Dialect,
    counts: SqlCounts,
    doubtful: Vec<(String, Reading)>,
}

pub(super) fn of_files(parsed: &[ParsedFile], sources: &Sources) -> Vec<(FileId, FileFigures)> {
    parsed.iter().filter_map(|file| Some((file.file, of_file(file, sources)?))).collect()
}

fn of_file(file: &ParsedFile, sources: &Sources) -> Option<FileFigures> {
    let FileFacts::Sql(facts, dialect) = &*file.facts else { return None };
    let mut counts = SqlCounts::default();
    let mut doubtful: Vec<(String, Reading)> = Vec::new();
    // Bodies hold no routines, so that one level is all there is.
    for statement in facts.statements.iter().flat_map(|s| std::iter::once(s).chain(s.body())) {
        match statement.reading() {
            Reading::Parsed => counts.parsed += 1,
            Reading::Sorted => counts.sorted += 1,
            Reading::Unread => counts.unread += 1,
        }
        let place = || sources.place(file.file, statement.span.start);
        doubtful.extend(doubt(statement).map(|reading| (place(), reading)));
    }
    Some(FileFigures { dialect: *dialect, counts, doubtful })
}

pub(super) fn summed(files: impl Iterator<Item = FileFigures>) -> SqlFigures {
    let mut figures = SqlFigures::default();
    for FileFigures { dialect, counts, doubtful } in files {
        let sum = figures.by_dialect.entry(dialect).or_default();
        sum.parsed += counts.parsed;
        sum.sorted += counts.sorted;
        sum.unread += counts.unread;
        figures.doubtful.extend(doubtful);
    }
    figures
}

/// `None` for what was parsed, and for what concerns no rule.
fn doubt(statement: &Statement) -> Option<Reading> {
    let reading = statement.reading();
    let concerns = !matches!(statement.kind, StatementKind::Other { .. }) || reading == Reading::Unread;
    (reading != Reading::Parsed && concerns).then_some(reading)
}
