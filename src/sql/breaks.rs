//! What is broken in a statement that the grammar does not read, as far as that is certain in every
//! dialect: a parenthesis that never closes, a semicolon that was forgotten, nesting without bound, a verb
//! that we judge with nothing behind it that we know.
//!
//! What the grammar merely lacks is no break, and templates may be whole once they are filled in.

use super::lex::{Token, TokenKind};
use super::source::{Source, offset};
use super::split::Piece;
use super::statement::{self, Shape};
use crate::facts::Span;
use crate::facts::reading::Reading;
use crate::facts::sql::Statement;

/// The break of a statement that was not parsed.
pub(super) fn of(source: &Source<'_>, statement: &Statement) -> Option<(Span, String)> {
    // What lexes without an end is told by the splitter.
    let is_told = source.tokens.iter().any(|token| token.unterminated);
    if is_told || is_template(source) || has_brackets_for_quotes(source) {
        return None;
    }
    if let Some(open) = unclosed(source) {
        return Some((place(&open), "a parenthesis that never closes".to_owned()));
    }
    if statement::shape(source) != Shape::Relevant || statement.parsed {
        return None;
    }
    let first = source.tokens.first().map(place)?;
    if statement::is_too_deep(source) {
        return Some((first, "this statement is nested too deeply, or too long, to be parsed".to_owned()));
    }
    (statement.reading() == Reading::Unread).then(|| (first, "this statement cannot be parsed".to_owned()))
}

fn is_template(source: &Source<'_>) -> bool {
    let is_named = |t: &Token| t.kind == TokenKind::Placeholder && t.text(source.text).starts_with(':');
    let braces = |t: &Token| t.kind == TokenKind::Symbol && matches!(t.text(source.text), "{" | "}" | "%");
    source.tokens.iter().any(|t| t.kind == TokenKind::Hole || is_named(t) || braces(t))
}

/// `[name]`: another database's SQL, of which nothing is asked.
fn has_brackets_for_quotes(source: &Source<'_>) -> bool {
    let text = source.text;
    source.tokens.windows(3).any(|w| {
        let indexes = w[0].end == w[1].start || w[0].is(text, "ARRAY");
        w[1].is(text, "[") && w[2].kind == TokenKind::Word && (!indexes || w[0].is(text, "."))
    })
}

/// The outermost parenthesis that stays open.
fn unclosed(source: &Source<'_>) -> Option<Token> {
    let mut open: Vec<Token> = Vec::new();
    for token in source.tokens.iter().filter(|t| t.kind == TokenKind::Symbol) {
        match token.text(source.text) {
            "(" => open.push(*token),
            ")" => drop(open.pop()),
            _ => {}
        }
    }
    open.first().copied()
}

fn place(token: &Token) -> Span {
    Span::new(offset(token.start), offset(token.end))
}

/// The last byte of a statement.
pub(super) fn end_of(piece: Piece) -> Span {
    Span::new(offset(piece.end.saturating_sub(1)), offset(piece.end))
}

/// More beginnings of lines than this are not tried.
const MOST_TRIED: usize = 16;

/// A statement and what follows it, where only a line's end divides them.
pub(super) fn without_semicolon(source: &Source<'_>, piece: Piece) -> Option<(Piece, Piece)> {
    if statement::shape(source) != Shape::Relevant || statement::is_too_deep(source) {
        return None;
    }
    beginnings(source).into_iter().take(MOST_TRIED).find_map(|at| {
        let (before, next) = (source.tokens.get(at.checked_sub(1)?)?, source.tokens.get(at)?);
        let first = Piece { end: before.end, ..piece };
        let is_whole = statement::read(source.text, first, source.dialect).reading() == Reading::Parsed;
        is_whole.then_some((first, Piece { start: next.start, ..piece }))
    })
}

/// Tokens outside all parentheses that begin a line, and a statement.
fn beginnings(source: &Source<'_>) -> Vec<usize> {
    let mut depth = 0usize;
    let mut found = Vec::new();
    for (at, token) in source.tokens.iter().enumerate() {
        match token.text(source.text) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth > 0 || at == 0 || token.kind != TokenKind::Word => {}
            _ => {
                let gap = source.text.get(source.tokens[at - 1].end..token.start).unwrap_or("");
                if gap.contains('\n') && begins(source, at) {
                    found.push(at);
                }
            }
        }
    }
    found
}

/// `DROP COLUMN` and `ON … DELETE CASCADE` are parts of a statement, not the start of one.
fn begins(source: &Source<'_>, at: usize) -> bool {
    let is = |ahead: usize, words: &[&str]| {
        let token = source.tokens.get(at + ahead);
        token.is_some_and(|t| words.iter().any(|word| t.is(source.text, word)))
    };
    (is(0, &["CREATE"]) && is(1, &["TABLE", "INDEX", "UNIQUE"]))
        || (is(0, &["ALTER", "DROP"]) && is(1, &["TABLE"]))
        || (is(0, &["INSERT"]) && is(1, &["INTO"]))
        || (is(0, &["DELETE"]) && is(1, &["FROM"]))
        || (is(0, &["UPDATE"]) && (2..5).any(|ahead| is(ahead, &["SET"])))
}
