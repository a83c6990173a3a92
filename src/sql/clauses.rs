//! Where the clauses of a statement stand in its text, by its tokens: the tree of the parser keeps the places
//! of operands only, and an edit needs the end of a clause with its brackets and keywords.

use super::lex::{Token, TokenKind};
use super::source::{Source, offset};
use crate::facts::Span;
use crate::facts::sql::{Clauses, Write, WriteVerb};

const BEHIND_SET: &[&str] = &["WHERE", "FROM", "RETURNING", "ORDER", "LIMIT"];
const BEHIND_WHERE: &[&str] = &["RETURNING", "ORDER", "LIMIT", "GROUP", "WINDOW", "ON"];

/// The clauses of an update, a delete, or the update of an upsert.
pub(super) fn of(source: &Source<'_>, write: &Write) -> Clauses {
    let tokens: Vec<Token> =
        source.tokens.iter().filter(|token| token.kind != TokenKind::Comment).copied().collect();
    let scan = Scan { source, tokens: &tokens };
    let assigns = matches!(write.verb, WriteVerb::Update | WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate);
    let set = write.assignments.first().filter(|_| assigns).and_then(|first| {
        let from = scan.at(first.span.start)?;
        scan.clause(from, BEHIND_SET)
    });
    let searched_from = match (set, write.verb) {
        (Some((_, end)), _) => Some(end),
        (None, WriteVerb::Delete) => scan.at(write.table_span.end),
        _ => None,
    };
    let condition = searched_from.and_then(|from| {
        let (_, keyword) = scan.clause(from, &["WHERE"]).unwrap_or((Span::default(), from));
        tokens.get(keyword).filter(|token| token.is(source.text, "WHERE"))?;
        scan.clause(keyword + 1, BEHIND_WHERE)
    });
    Clauses { set: set.map(|(span, _)| span), condition: condition.map(|(span, _)| span) }
}

struct Scan<'s, 'a> {
    source: &'s Source<'a>,
    tokens: &'s [Token],
}

impl Scan<'_, '_> {
    /// The first token at or behind an offset.
    fn at(&self, start: u32) -> Option<usize> {
        self.tokens.iter().position(|token| token.start >= start as usize)
    }

    /// From a token to the next of these words outside of brackets, or to the end of what is around it; and
    /// the token behind it.
    fn clause(&self, from: usize, ends: &[&str]) -> Option<(Span, usize)> {
        let mut depth = 0usize;
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            match token.text(self.source.text) {
                "(" => depth += 1,
                ")" if depth == 0 => break,
                ")" => depth -= 1,
                ";" if depth == 0 => break,
                _ if depth == 0 && ends.iter().any(|word| token.is(self.source.text, word)) => break,
                _ => {}
            }
            at += 1;
        }
        let (first, last) = (self.tokens.get(from)?, self.tokens.get(at.checked_sub(1)?)?);
        (at > from).then(|| (Span::new(offset(first.start), offset(last.end)), at))
    }
}
