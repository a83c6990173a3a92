//! A lexer for SQL of any dialect that never fails.
//!
//! It knows quotes, comments, dollar quoting, placeholders and template holes, and keeps byte spans. It
//! knows no grammar: the splitter, the repairs and the keyword extractor are built on it.

use crate::facts::sql::Dialect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// `"x"` or `` `x` ``.
    QuotedName,
    /// `'x'`, with its prefix (`E'…'`, `X'…'`).
    Text,
    /// `$tag$ … $tag$`, with its tags.
    DollarText,
    Number,
    /// `?`, `?1`, `$1`, `:name`.
    Placeholder,
    /// `{}`, `{name}`, `{{name}}`, `${name}`.
    Hole,
    Symbol,
    Comment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// A quote or comment that the text's end cut off.
    pub(super) unterminated: bool,
}

impl Token {
    pub(super) fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or("")
    }

    pub(super) fn is(&self, text: &str, word: &str) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Symbol) && self.text(text).eq_ignore_ascii_case(word)
    }
}

/// Longest hole that is taken for one; a longer pair of braces is something else.
const LONGEST_HOLE: usize = 120;

#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    end: usize,
    dialect: Dialect,
    /// Off where `$$` is a client's statement delimiter.
    pub(super) dollar_quotes: bool,
    /// Quotes and comments without an end so far.
    broken: usize,
}

/// After so many quotes and comments without an end no more is looked for: each search reads to the end
/// of the text.
const MOST_BROKEN: usize = 16;

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, dialect: Dialect) -> Self {
        Self::within(text, 0, text.len(), dialect)
    }

    /// Lexes a part of the text; spans stay relative to the whole of it.
    pub(super) fn within(text: &'a str, start: usize, end: usize, dialect: Dialect) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: start,
            end,
            dialect,
            dollar_quotes: dialect != Dialect::MySql,
            broken: 0,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.end { self.bytes[at] } else { 0 }
    }

    fn token(&mut self, kind: TokenKind, start: usize, end: usize) -> Token {
        self.at = end.max(start + 1).min(self.end);
        Token { kind, start, end: self.at, unterminated: false }
    }

    fn cut_off(&mut self, kind: TokenKind, start: usize) -> Token {
        // Everything after a quote that never ends would be lost with it; the end of the statement on
        // some later line is the most likely place where the text was meant to go on.
        let rest = &self.bytes[start..self.end];
        let stop = rest.windows(2).position(|w| w == b";\n" || w == b";\r").map_or(self.end, |i| start + i);
        self.broken += 1;
        let mut token = self.token(kind, start, stop);
        token.unterminated = true;
        token
    }

    fn run(&self, from: usize, keep: impl Fn(u8) -> bool) -> usize {
        let mut at = from;
        while at < self.end && keep(self.bytes[at]) {
            at += 1;
        }
        at
    }

    fn line_comment(&mut self, start: usize) -> Token {
        let end = self.run(start, |b| b != b'\n');
        self.token(TokenKind::Comment, start, end)
    }

    fn block_comment(&mut self, start: usize) -> Token {
        let nested = self.dialect == Dialect::Postgres;
        let mut depth = 0usize;
        let mut at = start;
        while at + 1 < self.end && self.broken < MOST_BROKEN {
            match (self.bytes[at], self.bytes[at + 1]) {
                (b'/', b'*') if nested || depth == 0 => {
                    depth += 1;
                    at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return self.token(TokenKind::Comment, start, at);
                    }
                }
                _ => at += 1,
            }
        }
        self.cut_off(TokenKind::Comment, start)
    }

    /// A quoted run that starts at `open`; doubled quotes stay inside, and so do escaped ones where the
    /// backslash escapes.
    fn quoted(&mut self, kind: TokenKind, start: usize, open: usize, backslash: bool) -> Token {
        let quote = self.bytes[open];
        let mut at = open + 1;
        while at < self.end && self.broken < MOST_BROKEN {
            let byte = self.bytes[at];
            if byte == b'\\' && backslash {
                at += 2;
            } else if byte != quote {
                at += 1;
            } else if at + 1 < self.end && self.bytes[at + 1] == quote {
                at += 2;
            } else {
                return self.token(kind, start, at + 1);
            }
        }
        self.cut_off(kind, start)
    }

    fn dollar(&mut self, start: usize) -> Token {
        let digits = self.run(start + 1, |b| b.is_ascii_digit());
        if digits > start + 1 {
            return self.token(TokenKind::Placeholder, start, digits);
        }
        if self.peek(1) == b'{'
            && let Some(end) = self.braces(start + 1)
        {
            return self.token(TokenKind::Hole, start, end);
        }
        let tag_end = self.run(start + 1, is_word);
        if self.dollar_quotes
            && self.broken < MOST_BROKEN
            && tag_end < self.end
            && self.bytes[tag_end] == b'$'
        {
            let tag = &self.bytes[start..=tag_end];
            let body = tag_end + 1;
            let close = find(&self.bytes[body..self.end], tag);
            return match close {
                Some(i) => self.token(TokenKind::DollarText, start, body + i + tag.len()),
                None => self.cut_off(TokenKind::DollarText, start),
            };
        }
        self.token(TokenKind::Symbol, start, start + 1)
    }

    /// The end of `{…}` or `{{…}}` at `start`, when it looks like a hole.
    fn braces(&self, start: usize) -> Option<usize> {
        let limit = self.end.min(start + LONGEST_HOLE);
        let mut depth = 0usize;
        for at in start..limit {
            match self.bytes[at] {
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                b'\n' | b';' | b'\'' | b'"' => return None,
                _ => {}
            }
        }
        None
    }

    fn colon(&mut self, start: usize) -> Token {
        if self.peek(1) == b':' || self.peek(1) == b'=' {
            return self.token(TokenKind::Symbol, start, start + 2);
        }
        let end = self.run(start + 1, is_word);
        if end > start + 1 && !self.bytes[start + 1].is_ascii_digit() {
            return self.token(TokenKind::Placeholder, start, end);
        }
        self.token(TokenKind::Symbol, start, start + 1)
    }

    fn word(&mut self, start: usize) -> Token {
        let end = self.run(start, |b| is_word(b) || b == b'$');
        let prefix = end == start + 1 && end < self.end && self.bytes[end] == b'\'';
        match self.bytes[start] {
            b'e' | b'E' if prefix => self.quoted(TokenKind::Text, start, end, true),
            b'x' | b'X' | b'b' | b'B' | b'n' | b'N' if prefix => {
                let backslash = self.dialect == Dialect::MySql;
                self.quoted(TokenKind::Text, start, end, backslash)
            }
            _ => self.token(TokenKind::Word, start, end),
        }
    }

    fn number(&mut self, start: usize) -> Token {
        let end = self.run(start, |b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_');
        self.token(TokenKind::Number, start, end)
    }

    fn symbol(&mut self, start: usize) -> Token {
        let pair = [self.bytes[start], self.peek(1)];
        let two = [b"<=", b">=", b"<>", b"!=", b"||"].contains(&&pair);
        self.token(TokenKind::Symbol, start, start + if two { 2 } else { 1 })
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.at = self.run(self.at, |b| b.is_ascii_whitespace() || b == 0);
        if self.at >= self.end {
            return None;
        }
        let start = self.at;
        let backslash = self.dialect == Dialect::MySql;
        Some(match self.bytes[start] {
            b'-' if self.peek(1) == b'-' => self.line_comment(start),
            b'#' if self.dialect == Dialect::MySql => self.line_comment(start),
            b'/' if self.peek(1) == b'*' => self.block_comment(start),
            b'\'' => self.quoted(TokenKind::Text, start, start, backslash),
            b'"' => self.quoted(TokenKind::QuotedName, start, start, backslash),
            b'`' => self.quoted(TokenKind::QuotedName, start, start, false),
            b'$' => self.dollar(start),
            b'{' => match self.braces(start) {
                Some(end) => self.token(TokenKind::Hole, start, end),
                None => self.token(TokenKind::Symbol, start, start + 1),
            },
            b'?' => {
                let end = self.run(start + 1, |b| b.is_ascii_digit());
                self.token(TokenKind::Placeholder, start, end)
            }
            b':' => self.colon(start),
            b if b.is_ascii_digit() => self.number(start),
            b if is_word(b) => self.word(start),
            _ => self.symbol(start),
        })
    }
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

/// The tokens of a part of the text, comments left out.
pub(super) fn tokens(text: &str, start: usize, end: usize, dialect: Dialect) -> Vec<Token> {
    Lexer::within(text, start, end, dialect).filter(|t| t.kind != TokenKind::Comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, dialect: Dialect) -> Vec<(TokenKind, &str)> {
        Lexer::new(text, dialect).map(|t| (t.kind, t.text(text))).collect()
    }

    #[test]
    fn quotes_keep_what_looks_like_an_end() {
        use TokenKind::*;
        let text = "a 'it''s;' \"b;\" $x$ ; $x$ $1 ?2 :n ::t E'\\'' {} ${v}";
        let seen = kinds(text, Dialect::Postgres);
        let expected = [
            (Word, "a"),
            (Text, "'it''s;'"),
            (QuotedName, "\"b;\""),
            (DollarText, "$x$ ; $x$"),
            (Placeholder, "$1"),
            (Placeholder, "?2"),
            (Placeholder, ":n"),
            (Symbol, "::"),
            (Word, "t"),
            (Text, "E'\\''"),
            (Hole, "{}"),
            (Hole, "${v}"),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_backslash_escapes_in_mysql_only() {
        assert_eq!(kinds("'a\\'' x", Dialect::MySql).len(), 2);
        assert_eq!(kinds("'a\\' x", Dialect::Sqlite).len(), 2);
    }

    #[test]
    fn a_quote_without_end_stops_at_the_next_statement() {
        let text = "UPDATE a SET b = 'x;\nDELETE FROM c;";
        let all: Vec<_> = Lexer::new(text, Dialect::Postgres).collect();
        assert!(all.iter().any(|t| t.unterminated));
        assert!(all.iter().any(|t| t.is(text, "delete")));
    }
}
