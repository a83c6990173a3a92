//! The text of a statement, put together from its pieces, and how it maps to the places where they are
//! written. What the statement says is not its concern.

use crate::facts::{FileId, TextMap};

use super::super::evaluate::Evaluator;
use super::super::value::{Form, Piece, Value};
use super::keys::field_values;

/// The text of a statement; of one that constructors prepare and keep in a field, what they prepare.
pub fn kept_text<'v>(evaluator: &'v Evaluator<'_>, text: &'v Value) -> &'v Value {
    match field_values(evaluator, text) {
        Some([Value { form: Form::Query(query), .. }]) => &query.text,
        _ => text,
    }
}

/// Where a text, or a chain of builder calls, begins.
pub fn written_at(text: &Value) -> Option<(FileId, u32)> {
    if let Form::Chain(chain) = &text.form {
        return Some((chain.location.file, chain.location.span.start));
    }
    let Form::Text(pieces) = &text.form else { return None };
    pieces.iter().find_map(|piece| match piece {
        Piece::Text { written: Some(written), .. } => Some((written.file, written.map.source_offset(0))),
        _ => None,
    })
}

/// A text put together, and where its parts were written.
pub struct Assembled {
    pub value: String,
    pub file: FileId,
    pub map: TextMap,
    /// `false` when pieces are unknown where a predicate could stand.
    pub complete: bool,
}

/// `None` when the text has no place in a file.
pub fn assembled(text: &Value) -> Option<Assembled> {
    let Form::Text(pieces) = &text.form else { return None };
    let first = pieces.iter().find_map(|piece| match piece {
        Piece::Text { written: Some(written), .. } => Some(written.clone()),
        _ => None,
    })?;
    let mut all =
        Assembled { value: String::new(), file: first.file, map: TextMap::default(), complete: true };
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text { text, written } => {
                if let Some(written) = written.as_ref().filter(|written| written.file == all.file) {
                    all.map.append(all.value.len() as u32, &written.map, text.len() as u32);
                }
                all.value.push_str(text);
            }
            Piece::Hole(value) => match &value.form {
                Form::Int(number) => all.value.push_str(&number.to_string()),
                _ if is_more_assignments(&all.value, &pieces[at + 1..]) => all.value.push(' '),
                _ => {
                    let is_value = stands_for_a_value(&all.value);
                    all.complete &= is_value;
                    // More conditions, or none: without them the statement can be read.
                    all.value.push_str(if is_value || needs_more(&all.value) { "{}" } else { " " });
                }
            },
        }
    }
    Some(all)
}

/// Whether a hole stands behind an assignment and before the predicate, as in
/// `SET state = 'done'{} WHERE id = $1`.
fn is_more_assignments(before: &str, behind: &[Piece]) -> bool {
    let ends_value = before.ends_with(|c: char| c == '\'' || c == ')' || c.is_ascii_digit());
    let before = before.to_ascii_uppercase();
    let is_open = before.trim_start().starts_with("UPDATE ") && before.contains(" SET ");
    let asks = |text: &str| text.to_ascii_uppercase().trim_start().starts_with("WHERE");
    ends_value
        && is_open
        && !before.contains(" WHERE ")
        && matches!(behind.first(), Some(Piece::Text { text, .. }) if asks(text))
}

/// Words behind which a hole is a name or a value, and cannot bring a predicate along.
const BEFORE_VALUES: &[&str] = &[
    "FROM",
    "INTO",
    "UPDATE",
    "TABLE",
    "JOIN",
    "RETURNING",
    "LIMIT",
    "OFFSET",
    "BY",
    "INTERVAL",
    "SELECT",
    "SET",
    "VALUES",
    "LIKE",
    "IN",
    "AS",
    "EXISTS",
    "USING",
    "DISTINCT",
];

/// Whether a hole behind this text can only be a name or a value.
fn stands_for_a_value(before: &str) -> bool {
    if before.ends_with(|c: char| !c.is_whitespace() && c != ')') {
        return true;
    }
    let last = before.trim_end();
    if last.ends_with(['=', '<', '>', '(', ',', '+', '-', '*', '/', '|']) {
        return true;
    }
    let word = last.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_ascii_uppercase();
    BEFORE_VALUES.contains(&word.as_str())
}

/// Whether a text cannot end here.
fn needs_more(before: &str) -> bool {
    let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    before.trim_end().ends_with(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '\'' | '"' | '`'))
        || ["WHERE", "AND", "OR", "NOT", "ON", "HAVING", "WITH", "FOR", "WHEN", "THEN", "ELSE"]
            .iter()
            .any(|open| word.eq_ignore_ascii_case(open))
}
