//! A scanner for the words, brackets and comments of a Rust text, for questions that must be answered
//! before (or without) parsing it. It never fails: what does not lex runs to the end of the text. It
//! does not know the grammar.

use super::tokens::{Token, TokenKind};

/// The tokens of a text in order, comments included.
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A byte-order mark is no token, and `#!` opens a script's interpreter line unless it opens an
        // attribute.
        let bytes = text.as_bytes();
        let start = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let rest = &bytes[start..];
        let shebang = rest.starts_with(b"#!") && !text[start + 2..].trim_start().starts_with('[');
        let at = if shebang { start + line_length(rest) } else { start };
        Self { bytes, at }
    }

    fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    /// The kind of the token at `self.at` and its end.
    fn token(&self) -> (TokenKind, usize) {
        match self.byte(0) {
            b'/' if self.byte(1) == b'/' => {
                (TokenKind::LineComment, self.at + line_length(&self.bytes[self.at..]))
            }
            b'/' if self.byte(1) == b'*' => (TokenKind::BlockComment, self.block_comment_end()),
            b'"' => (TokenKind::Literal, self.quoted_end(self.at + 1, b'"')),
            b'\'' => self.quote(),
            open @ (b'(' | b'[' | b'{') => (TokenKind::Open(open), self.at + 1),
            close @ (b')' | b']' | b'}') => (TokenKind::Close(close), self.at + 1),
            b'0'..=b'9' => (TokenKind::Literal, self.word_end(self.at)),
            byte if starts_word(byte) => self.word(),
            byte => (TokenKind::Punctuation(byte), self.at + 1),
        }
    }

    fn block_comment_end(&self) -> usize {
        let mut depth = 0usize;
        let mut at = self.at;
        while at < self.bytes.len() {
            match (self.bytes[at], self.bytes.get(at + 1)) {
                (b'/', Some(b'*')) => {
                    depth += 1;
                    at += 2;
                }
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return at;
                    }
                }
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// The end of a quoted text whose content starts at `from`, escapes respected.
    fn quoted_end(&self, from: usize, quote: u8) -> usize {
        let mut at = from;
        while at < self.bytes.len() {
            match self.bytes[at] {
                b'\\' => at += 2,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// `'a'`, `'\n'`, `'é'` or the lifetime `'a`.
    fn quote(&self) -> (TokenKind, usize) {
        let next = self.byte(1);
        if next == b'\\' {
            return (TokenKind::Literal, self.quoted_end(self.at + 1, b'\''));
        }
        let width = match next {
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        };
        if self.byte(1 + width) == b'\'' {
            return (TokenKind::Literal, self.at + width + 2);
        }
        (TokenKind::Lifetime, self.word_end(self.at + 1).max(self.at + 1))
    }

    fn word_end(&self, from: usize) -> usize {
        let length = self.bytes[from..].iter().take_while(|byte| continues_word(**byte)).count();
        from + length
    }

    /// A name, or a literal that opens with a prefix: `r"…"`, `br#"…"#`, `b'x'`, `c"…"`.
    fn word(&self) -> (TokenKind, usize) {
        let end = self.word_end(self.at);
        let prefix = &self.bytes[self.at..end];
        match (prefix, self.bytes.get(end)) {
            (b"r" | b"br" | b"cr", Some(b'"' | b'#')) => match self.raw_end(end) {
                Some(end) => (TokenKind::Literal, end),
                None => (TokenKind::Word, self.word_end(end + 1)), // `r#name`
            },
            (b"b" | b"c", Some(b'"')) => (TokenKind::Literal, self.quoted_end(end + 1, b'"')),
            (b"b", Some(b'\'')) => (TokenKind::Literal, self.quoted_end(end + 1, b'\'')),
            _ => (TokenKind::Word, end),
        }
    }

    /// The end of the raw string whose `#`s start at `from`; `None` when no quote follows them.
    fn raw_end(&self, from: usize) -> Option<usize> {
        let hashes = self.bytes[from..].iter().take_while(|byte| **byte == b'#').count();
        if self.bytes.get(from + hashes) != Some(&b'"') {
            return None;
        }
        let mut at = from + hashes + 1;
        while let Some(length) = self.bytes[at..].iter().position(|byte| *byte == b'"') {
            at += length + 1;
            if self.bytes[at..].iter().take(hashes).filter(|byte| **byte == b'#').count() == hashes {
                return Some(at + hashes);
            }
        }
        Some(self.bytes.len())
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        if self.at >= self.bytes.len() {
            return None;
        }
        let (kind, end) = self.token();
        let start = self.at;
        self.at = end.min(self.bytes.len());
        Some(Token { kind, start, end: self.at })
    }
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn line_length(bytes: &[u8]) -> usize {
    let length = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    if bytes[..length].ends_with(b"\r") { length - 1 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        Tokens::new(text).map(|token| (token.kind, &text[token.start..token.end])).collect()
    }

    #[test]
    fn strings_of_every_kind_are_one_token() {
        for literal in [
            r#""a \" b""#,
            r##"r"a""##,
            r###"r#"a "b" c"#"###,
            r###"br##"a "# b"##"###,
            r#"b"x\"y""#,
            r#"c"x""#,
            "'x'",
            r"'\''",
            r"'\u{1F600}'",
            "'é'",
            "'😀'",
            "b'('",
            "0x1f_u8",
        ] {
            assert_eq!(kinds(&format!("{literal} end")).len(), 2, "{literal}");
            assert_eq!(kinds(literal), [(TokenKind::Literal, literal)]);
        }
    }

    #[test]
    fn lifetimes_and_raw_names_are_no_literals() {
        assert_eq!(kinds("&'a T")[1], (TokenKind::Lifetime, "'a"));
        assert_eq!(kinds("'outer: loop")[0], (TokenKind::Lifetime, "'outer"));
        assert_eq!(kinds("r#fn")[0], (TokenKind::Word, "r#fn"));
    }

    #[test]
    fn comments_nest_and_end_with_their_line() {
        assert_eq!(kinds("/* a /* b */ c */ x")[0], (TokenKind::BlockComment, "/* a /* b */ c */"));
        assert_eq!(kinds("// one\r\nx")[0], (TokenKind::LineComment, "// one"));
        assert_eq!(kinds(r#""// no comment" x"#).len(), 2);
    }

    #[test]
    fn what_never_ends_runs_to_the_end_of_the_text() {
        for text in ["\"open", "r#\"open\"", "/* open /* */", "'", "b'", "r#", "\"\\", "'\\"] {
            assert_eq!(kinds(text).last().map(|(_, t)| t.len()), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_an_interpreter_line_are_no_tokens() {
        assert_eq!(kinds("\u{feff}fn")[0], (TokenKind::Word, "fn"));
        assert_eq!(kinds("#!/usr/bin/env run (\nfn")[0], (TokenKind::Word, "fn"));
        assert_eq!(kinds("#![no_std]")[0], (TokenKind::Punctuation(b'#'), "#"));
    }
}
