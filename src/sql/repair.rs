//! Repairs for what the grammar lacks: words that say nothing to us are blanked, byte for byte, so that
//! every position stays right.
//!
//! A repair may lose what a statement says about columns we do not judge; it never adds a predicate.

use super::lex::{Token, TokenKind};
use super::source::Source;

/// Changes the masked text; `false` when there was nothing to repair.
pub(super) fn repair(source: &mut Source<'_>) -> bool {
    let before = source.masked.clone();
    let tokens = source.tokens.clone();
    for at in 0..tokens.len() {
        one(source, &tokens, at);
    }
    let changed = source.masked != before;
    let inserted = insert_where(source, &tokens);
    if changed || inserted {
        source.find_lines();
    }
    changed || inserted
}

fn one(source: &mut Source<'_>, tokens: &[Token], at: usize) {
    let token = tokens[at];
    let text = source.text;
    let word = token.text(text).to_ascii_uppercase();
    let is = |offset: usize, w: &str| tokens.get(at + offset).is_some_and(|t| t.is(text, w));
    match (token.kind, word.as_str()) {
        (TokenKind::Placeholder, w) if w.starts_with(':') => {
            fill(source, token.start, token.start + 1);
            source.add_hole(token.start + 1, token.end);
        }
        (TokenKind::Symbol, "::") if is(1, ":") => fill(source, token.start, token.start + 1),
        (TokenKind::Symbol, ",") if is(1, ")") => fill(source, token.start, token.end),
        (TokenKind::QuotedName, _) if at > 0 && tokens[at - 1].is(text, "COMMENT") => {
            single_quotes(source, &token)
        }
        (TokenKind::Word, "STORING") if is(1, "(") => {
            let close = matching(source, tokens, at + 1);
            fill(source, token.start, close);
        }
        (TokenKind::Word, "NOT") if is(1, "VISIBLE") => fill(source, token.start, tokens[at + 1].end),
        (TokenKind::Word, "CONSTRAINT") if is(2, "NOT") && is(3, "NULL") => {
            named_not_null(source, tokens, at)
        }
        (TokenKind::Symbol, "(") if is(2, "=") && follows_operator_class(source, tokens, at) => {
            let close = matching(source, tokens, at);
            fill(source, token.start, close);
        }
        (TokenKind::Word, "LOCK" | "ALGORITHM") if at > 1 && is(1, "=") => online_option(source, tokens, at),
        (TokenKind::Word, "CONCURRENTLY" | "FULLTEXT" | "NONCLUSTERED") => {
            fill(source, token.start, token.end)
        }
        (TokenKind::Word, "BINARY") if at > 0 && tokens[at - 1].is(text, ")") => {
            fill(source, token.start, token.end)
        }
        (TokenKind::Word, "COLLATE")
            if tokens.first().is_some_and(|t| t.is(text, "ALTER") || t.is(text, "CREATE")) =>
        {
            let end = tokens.get(at + 1).map_or(token.end, |t| t.end);
            fill(source, token.start, end);
        }
        (TokenKind::Word, "NO") if is(1, "KEY") && is(2, "UPDATE") => {
            fill(source, token.start, tokens[at + 1].end)
        }
        (TokenKind::Word, "KEY") if is(1, "SHARE") => fill(source, token.start, token.end),
        (TokenKind::Word, "INTO") if at > 1 && after_returning(source, tokens, at) => {
            into_list(source, tokens, at)
        }
        _ => {}
    }
}

fn fill(source: &mut Source<'_>, start: usize, end: usize) {
    let (start, end) = (start - source.base, end - source.base);
    for byte in &mut source.masked[start..end] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn single_quotes(source: &mut Source<'_>, token: &Token) {
    let (start, end) = (token.start - source.base, token.end - source.base);
    for byte in &mut source.masked[start..end] {
        if *byte == b'\'' {
            *byte = b' ';
        }
    }
    source.masked[start] = b'\'';
    source.masked[end - 1] = b'\'';
}

/// `gist_trgm_ops(siglen = 256)`: PostgreSQL's classes have names of this form.
fn follows_operator_class(source: &Source<'_>, tokens: &[Token], at: usize) -> bool {
    let class = at.checked_sub(1).map_or("", |before| tokens[before].text(source.text));
    class.to_ascii_lowercase().ends_with("_ops")
}

/// `LOCK = NONE`, `ALGORITHM = INPLACE` of MySQL's DDL, with the comma that joins it to the rest.
fn online_option(source: &mut Source<'_>, tokens: &[Token], at: usize) {
    let text = source.text;
    let changes_schema = ["ALTER", "CREATE", "DROP"].iter().any(|verb| tokens[0].is(text, verb));
    let Some(value) = tokens.get(at + 2).filter(|value| changes_schema && value.kind == TokenKind::Word)
    else {
        return;
    };
    let (first, comma_after) = match (tokens[at - 1].is(text, ","), tokens.get(at + 3)) {
        (true, _) => (tokens[at - 1].start, None),
        (false, next) => (tokens[at].start, next.filter(|next| next.is(text, ","))),
    };
    fill(source, first, comma_after.map_or(value.end, |comma| comma.end));
}

/// The end of the parenthesis that opens at this token.
fn matching(source: &Source<'_>, tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for token in &tokens[open..] {
        match token.text(source.text) {
            "(" => depth += 1,
            ")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return token.end;
                }
            }
            _ => {}
        }
    }
    source.end()
}

/// `CONSTRAINT x NOT NULL c`, as PostgreSQL 18 writes it, with the comma that joins it to the rest.
fn named_not_null(source: &mut Source<'_>, tokens: &[Token], at: usize) {
    let text = source.text;
    let start = match at.checked_sub(1).map(|i| tokens[i]) {
        Some(previous) if previous.is(text, ",") => previous.start,
        Some(previous) if previous.is(text, "ADD") && at > 1 && tokens[at - 2].is(text, ",") => {
            tokens[at - 2].start
        }
        _ => return,
    };
    let end = match tokens.get(at + 4) {
        Some(column) if matches!(column.kind, TokenKind::Word | TokenKind::QuotedName) => column.end,
        _ => return,
    };
    fill(source, start, end);
}

fn after_returning(source: &Source<'_>, tokens: &[Token], at: usize) -> bool {
    let first = &tokens[0];
    let selects = first.is(source.text, "SELECT") || first.is(source.text, "WITH");
    selects || tokens[..at].iter().rev().any(|t| t.is(source.text, "RETURNING"))
}

/// `INTO a, b` of a stored routine: the variables that take the row.
fn into_list(source: &mut Source<'_>, tokens: &[Token], at: usize) {
    let text = source.text;
    if tokens[at - 1].is(text, "INSERT") || tokens[at - 1].is(text, "MERGE") {
        return;
    }
    let mut end = tokens[at].end;
    let mut wants_name = true;
    for token in &tokens[at + 1..] {
        let is_name = matches!(token.kind, TokenKind::Word | TokenKind::QuotedName | TokenKind::Placeholder);
        let joins = token.is(text, ",") || token.is(text, ".") || token.is(text, "@");
        if token.is(text, "STRICT") || (is_name && wants_name) {
            wants_name = token.is(text, "STRICT");
        } else if joins {
            wants_name = true;
        } else {
            break;
        }
        end = token.end;
    }
    fill(source, tokens[at].start, end);
}

const WHERE_TRUE: &[u8] = b" WHERE true ";

/// The grammar takes the `ON` of `INSERT … SELECT a ON CONFLICT …` for an alias unless a clause stands
/// between them.
fn insert_where(source: &mut Source<'_>, tokens: &[Token]) -> bool {
    let text = source.text;
    let has = |w: &str| tokens.iter().any(|t| t.is(text, w));
    if !has("SELECT") || has("FROM") {
        return false;
    }
    let Some(at) =
        (1..tokens.len()).find(|i| tokens[*i].is(text, "CONFLICT") && tokens[i - 1].is(text, "ON"))
    else {
        return false;
    };
    let from = tokens[at - 1].start - source.base;
    source.masked.splice(from..from, WHERE_TRUE.iter().copied());
    source.inserted = Some((from, WHERE_TRUE.len()));
    true
}
