//! A scanner for Lua that tells comments from quoted text.

use super::sql_tokens::line_length;
use crate::sources::tokens::{Token, TokenKind};

/// All tokens of a text; what does not lex runs to its end.
pub(super) fn scan(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    // A script for Redis may open with `#!lua name=…`.
    let mut at = if bytes.starts_with(b"#!") { line_length(bytes) } else { 0 };
    while let Some(first) = bytes.get(at) {
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let (kind, length) = token(&bytes[at..]);
        let end = (at + length.max(1)).min(bytes.len());
        tokens.push(Token { kind, start: at, end });
        at = end;
    }
    tokens
}

fn token(rest: &[u8]) -> (TokenKind, usize) {
    match rest[0] {
        b'-' if rest.starts_with(b"--") => match long_bracket_length(&rest[2..]) {
            Some(length) => (TokenKind::BlockComment, 2 + length),
            None => (TokenKind::LineComment, line_length(rest)),
        },
        quote @ (b'\'' | b'"') => (TokenKind::Literal, quoted_length(rest, quote)),
        open @ (b'(' | b'[' | b'{') => match long_bracket_length(rest) {
            Some(length) => (TokenKind::Literal, length),
            None => (TokenKind::Open(open), 1),
        },
        close @ (b')' | b']' | b'}') => (TokenKind::Close(close), 1),
        byte if is_word(byte) => (TokenKind::Word, rest.iter().take_while(|byte| is_word(**byte)).count()),
        byte => (TokenKind::Punctuation(byte), 1),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A quoted text ends at its quote, and at the line's end when it is never closed.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match *byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of `[[…]]` or `[=[…]=]` at the start of `rest`.
fn long_bracket_length(rest: &[u8]) -> Option<usize> {
    let inner = rest.strip_prefix(b"[")?;
    let level = inner.iter().take_while(|byte| **byte == b'=').count();
    let content = inner[level..].strip_prefix(b"[")?;
    let closing: Vec<u8> = [b"]".as_slice(), &inner[..level], b"]"].concat();
    let length = content.windows(closing.len()).position(|window| window == closing);
    Some(length.map_or(rest.len(), |length| level + 2 + length + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<&str> {
        let tokens = scan(text).into_iter().filter(|token| token.kind == TokenKind::LineComment);
        tokens.map(|token| &text[token.start..token.end]).collect()
    }

    #[test]
    fn only_comments_are_comments() {
        let text = "a() -- one\nb('-- no', \"\\\"-- no\", [[ -- no\n]], [==[ -- ]] no ]==]) --[[ no\n-- no ]] -- two";
        assert_eq!(comments(text), ["-- one", "-- two"]);
        assert_eq!(comments("#!lua name=-- no\n-- yes"), ["-- yes"]);
    }

    #[test]
    fn what_never_ends_is_survived() {
        for text in ["'", "\"\\", "[[", "--[==[ ]]", "[=", "--"] {
            assert_eq!(scan(text).last().map(|token| token.end), Some(text.len()), "{text}");
        }
    }
}
