//! The text of one statement as the grammar sees it, and the way back from its positions and names to
//! the text that was written.
//!
//! The grammar gets a copy of the same length in plain ASCII, holes filled with a name, so that a
//! position in the copy is a byte offset in the original.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use super::lex::{self, Token, TokenKind};
use crate::facts::Span;
use crate::facts::sql::{Dialect, TableName};

pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) base: usize,
    pub(super) dialect: Dialect,
    pub(super) tokens: Vec<Token>,
    /// The statement in ASCII; repairs change it, never its length.
    pub(super) masked: Vec<u8>,
    /// Where text of ours was put in, and how much: offsets after it are moved back.
    pub(super) inserted: Option<(usize, usize)>,
    line_starts: Vec<usize>,
    /// Spans of holes, relative to the text, sorted.
    holes: Vec<(usize, usize)>,
    /// Starts of `?`, relative to the text, sorted: their order is their number.
    questions: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, start: usize, end: usize, dialect: Dialect) -> Self {
        let tokens = lex::tokens(text, start, end, dialect);
        let mut masked: Vec<u8> = text.as_bytes()[start..end].to_vec();
        for byte in &mut masked {
            if !byte.is_ascii() || *byte == 0 {
                *byte = b'a';
            }
        }
        let mut source = Self {
            text,
            base: start,
            dialect,
            masked,
            inserted: None,
            line_starts: Vec::new(),
            holes: Vec::new(),
            questions: Vec::new(),
            tokens,
        };
        source.fill_holes();
        source.number_questions();
        source.find_lines();
        source
    }

    fn fill_holes(&mut self) {
        for token in &self.tokens {
            if token.kind == TokenKind::Hole {
                for at in token.start..token.end {
                    self.masked[at - self.base] = b'_';
                }
                self.masked[token.start - self.base] = b'h';
                self.holes.push((token.start, token.end));
            }
        }
    }

    /// Names of variables that stand alone are values.
    pub(super) fn fill_variables(&mut self, variables: &[String]) {
        if variables.is_empty() {
            return;
        }
        let text = self.text;
        let dot =
            |at: Option<usize>| at.and_then(|i| self.tokens.get(i)).is_some_and(|t| t.text(text) == ".");
        let is_variable = |t: &Token| {
            t.kind == TokenKind::Word && variables.iter().any(|v| t.text(text).eq_ignore_ascii_case(v))
        };
        let alone = |at: usize| !dot(at.checked_sub(1)) && !dot(Some(at + 1));
        let found: Vec<(usize, usize)> = self
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, token)| is_variable(token) && alone(*at))
            .map(|(_, token)| (token.start, token.end))
            .collect();
        self.holes.extend(found);
        self.holes.sort_unstable();
    }

    fn number_questions(&mut self) {
        let text = self.text;
        let marks = self.tokens.iter().filter(|t| t.kind == TokenKind::Placeholder && t.text(text) == "?");
        self.questions = marks.map(|t| t.start).collect();
    }

    /// To be called when a repair has moved line ends.
    pub(super) fn find_lines(&mut self) {
        self.line_starts = std::iter::once(0)
            .chain(self.masked.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1))
            .collect();
    }

    pub(super) fn add_hole(&mut self, start: usize, end: usize) {
        self.holes.push((start, end));
        self.holes.sort_unstable();
    }

    pub(super) fn sql(&self) -> &str {
        // The mask replaced every byte beyond ASCII.
        std::str::from_utf8(&self.masked).unwrap_or("")
    }

    pub(super) fn end(&self) -> usize {
        self.tokens.last().map_or(self.base, |t| t.end)
    }

    pub(super) fn whole(&self) -> Span {
        Span::new(offset(self.base), offset(self.end()))
    }

    pub(super) fn span(&self, span: sqlparser::tokenizer::Span) -> Span {
        if span.start.line == 0 {
            return Span::default();
        }
        let at = |l: sqlparser::tokenizer::Location| {
            let line = usize::try_from(l.line).unwrap_or(1).saturating_sub(1);
            let column = usize::try_from(l.column).unwrap_or(1).saturating_sub(1);
            let mut at = self.line_starts.get(line).copied().unwrap_or(0) + column;
            if let Some((from, len)) = self.inserted
                && at > from
            {
                at = at.saturating_sub(len).max(from);
            }
            self.base + at
        };
        Span::new(offset(at(span.start)), offset(at(span.end)))
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Whether a hole fills the span.
    pub(super) fn is_hole(&self, span: Span) -> bool {
        self.holes.binary_search(&(span.start as usize, span.end as usize)).is_ok()
    }

    fn touches_hole(&self, span: Span) -> bool {
        let (start, end) = (span.start as usize, span.end as usize);
        let next = self.holes.partition_point(|h| h.1 <= start);
        self.holes.get(next).is_some_and(|h| h.0 < end)
    }

    /// The number of the `?` at this offset, from 1.
    pub(super) fn question(&self, at: u32) -> u32 {
        offset(self.questions.partition_point(|q| *q <= at as usize))
    }

    /// A name, folded as PostgreSQL folds it; the other dialects compare without regard to case, so
    /// there it stays as it was written.
    pub(super) fn name(&self, ident: &Ident) -> String {
        let span = self.span(ident.span);
        let written = self.slice(span);
        if self.touches_hole(span) {
            return written.to_owned();
        }
        if ident.quote_style.is_some() {
            let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or("");
            return if inner.is_empty() { ident.value.clone() } else { inner.to_owned() };
        }
        let name = if written.len() == ident.value.len() { written } else { &ident.value };
        if self.dialect == Dialect::Postgres { name.to_lowercase() } else { name.to_owned() }
    }

    pub(super) fn parts(&self, name: &ObjectName) -> Vec<String> {
        name.0.iter().map(|p| part(p).map_or_else(String::new, |i| self.name(i))).collect()
    }

    pub(super) fn table(&self, name: &ObjectName) -> TableName {
        let mut parts = self.parts(name);
        let last = parts.pop().unwrap_or_default();
        TableName { schema: parts.pop(), name: last }
    }

    pub(super) fn name_span(&self, name: &ObjectName) -> Span {
        name.0
            .iter()
            .filter_map(part)
            .map(|i| self.span(i.span))
            .reduce(Span::to)
            .unwrap_or_else(|| self.whole())
    }
}

fn part(part: &ObjectNamePart) -> Option<&Ident> {
    match part {
        ObjectNamePart::Identifier(ident) => Some(ident),
        ObjectNamePart::Function(_) => None,
    }
}

pub(super) fn offset(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
