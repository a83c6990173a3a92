//! The SQL front end: a text becomes facts, statement by statement.
//!
//! It depends on the text alone. A statement that does not parse never hides its neighbours, and no type
//! of the parser leaves this room. It knows no schema and no rule.

mod breaks;
mod clauses;
mod convert;
mod dialect;
mod extract;
mod items;
mod lex;
pub mod migration;
mod prose;
mod repair;
mod routine;
mod rows;
mod source;
mod split;
mod statement;

use crate::facts::sql::{Dialect, SqlText};

pub use dialect::{guess_dialect, has_question_marks};
pub use prose::looks_like_statement;

/// Reads a file, or the value of one literal. Spans are byte offsets in `text`.
pub fn parse(text: &str, dialect: Dialect) -> SqlText {
    let cut = split::split(text, dialect);
    let mut found = SqlText { statements: Vec::new(), problems: cut.problems };
    for piece in cut.pieces {
        statement::read_all(text, piece, dialect, &mut found);
    }
    found.problems.sort_by_key(|(span, _)| *span);
    found
}

#[cfg(test)]
mod tests;
