//! How far the SQL files of a run were read: what a silence about them is worth.
//!
//! It counts and names places; it judges nothing.

use std::collections::BTreeMap;

use crate::facts::Span;
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

pub(super) fn sql_figures(parsed: &[ParsedFile], sources: &Sources) -> SqlFigures {
    let mut figures = SqlFigures::default();
    for file in parsed.iter().filter(|file| sources.file(file.file).reported) {
        let FileFacts::Sql(facts, dialect) = &*file.facts else { continue };
        let counts = figures.by_dialect.entry(*dialect).or_default();
        let mut doubtful: Vec<(Span, Reading)> = Vec::new();
        // Bodies hold no routines, so that one level is all there is.
        for statement in facts.statements.iter().flat_map(|s| std::iter::once(s).chain(s.body())) {
            match statement.reading() {
                Reading::Parsed => counts.parsed += 1,
                Reading::Sorted => counts.sorted += 1,
                Reading::Unread => counts.unread += 1,
            }
            doubtful.extend(doubt(statement).map(|reading| (statement.span, reading)));
        }
        figures.doubtful.extend(doubtful.into_iter().map(|(span, reading)| {
            let position = sources.position(file.file, span.start);
            let place = format!("{}:{}:{}", sources.path(file.file), position.line, position.column);
            (place, reading)
        }));
    }
    figures
}

/// `None` for what was parsed, and for what concerns no rule.
fn doubt(statement: &Statement) -> Option<Reading> {
    let reading = statement.reading();
    let concerns = !matches!(statement.kind, StatementKind::Other { .. }) || reading == Reading::Unread;
    (reading != Reading::Parsed && concerns).then_some(reading)
}
