//! A scanner for SQL of any dialect that tells comments from quoted text. Dollar-quoted bodies are
//! looked into, since routines are written in them: their tags stand as `{` and `}`.

use crate::sources::tokens::{Token, TokenKind};

/// All tokens of a text; what does not lex runs to the end of its region.
pub(super) fn scan(text: &str) -> Vec<Token> {
    let mut scanner =
        Scanner { text: text.as_bytes(), at: 0, regions: Vec::new(), tokens: Vec::new(), unclosed: 0 };
    while scanner.step() {}
    scanner.tokens
}

/// The inside of a dollar-quoted text.
struct Region {
    end: usize,
    tag_length: usize,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Innermost last.
    regions: Vec<Region>,
    tokens: Vec<Token>,
    /// Tags that were opened and never closed.
    unclosed: usize,
}

/// Each search for a closing tag may cost the whole text, so only so many may nest or fail; a text with
/// more of them is not looked into any further.
const DOLLAR_LIMIT: usize = 32;

impl Scanner<'_> {
    fn step(&mut self) -> bool {
        if let Some(region) = self.regions.pop_if(|region| self.at >= region.end) {
            self.push(TokenKind::Close(b'}'), (region.end + region.tag_length).min(self.text.len()));
            return true;
        }
        let rest = &self.text[self.at..self.end()];
        let Some(first) = rest.first() else { return false };
        let second = rest.get(1).copied().unwrap_or(0);
        match (*first, second) {
            (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
            (b'-', b'-') => self.take(TokenKind::LineComment, line_length(rest)),
            (b'/', b'*') => self.take(TokenKind::BlockComment, block_comment_length(rest)),
            (quote @ (b'\'' | b'"' | b'`'), _) => self.take(TokenKind::Literal, quoted_length(rest, quote)),
            (b'$', _) => self.dollar(),
            (byte, _) if is_word(byte) => {
                let length = rest.iter().take_while(|byte| is_word(**byte) || **byte == b'$').count();
                self.take(TokenKind::Word, length);
            }
            (byte @ (b'(' | b'['), _) => self.take(TokenKind::Open(byte), 1),
            (byte @ (b')' | b']'), _) => self.take(TokenKind::Close(byte), 1),
            (byte, _) => self.take(TokenKind::Punctuation(byte), 1),
        }
        true
    }

    fn end(&self) -> usize {
        self.regions.last().map_or(self.text.len(), |region| region.end)
    }

    fn take(&mut self, kind: TokenKind, length: usize) {
        self.push(kind, self.at + length.max(1));
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(Token { kind, start: self.at, end });
        self.at = end;
    }

    /// `$$` or `$tag$` opens a region; `$1` is a parameter.
    fn dollar(&mut self) {
        let rest = &self.text[self.at..self.end()];
        let name = rest[1..].iter().take_while(|byte| is_word(**byte)).count();
        let is_tag = rest.get(1 + name) == Some(&b'$') && !rest[1].is_ascii_digit();
        if !is_tag || self.regions.len() >= DOLLAR_LIMIT || self.unclosed >= DOLLAR_LIMIT {
            return self.take(TokenKind::Punctuation(b'$'), 1 + name);
        }
        let tag = &rest[..name + 2];
        let start = self.at + tag.len();
        let length = find(&rest[tag.len()..], tag);
        let end = length.map_or(self.end(), |length| start + length);
        self.unclosed += usize::from(length.is_none());
        let tag_length = if length.is_some() { tag.len() } else { 0 };
        self.push(TokenKind::Open(b'{'), start);
        self.regions.push(Region { end, tag_length });
    }
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

pub(super) fn line_length(text: &[u8]) -> usize {
    let length = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    if text[..length].ends_with(b"\r") { length - 1 } else { length }
}

/// A doubled quote closes and opens at once, so it needs no rule. Whether `\'` closes depends on the
/// dialect; a quote that would only be closed that way is the rarer reading.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    text[1..].iter().position(|byte| *byte == quote).map_or(text.len(), |length| length + 2)
}

fn block_comment_length(text: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        match &text[at..(at + 2).min(text.len())] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
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
        assert_eq!(
            comments("a -- one\r\n'-- no' \"-- no\" `-- no` /* -- no /* */ -- no */ -- two"),
            ["-- one", "-- two"]
        );
        assert_eq!(comments("'it''s -- no' -- yes"), ["-- yes"]);
    }

    #[test]
    fn bodies_in_dollar_quotes_are_looked_into() {
        assert_eq!(comments("DO $$ -- in\n$$; -- out"), ["-- in", "-- out"]);
        assert_eq!(
            comments("AS $f$ don't $$ -- deep\n$$ $f$; -- out"),
            ["-- out"],
            "an open quote ends with its body"
        );
        assert_eq!(comments("WHERE id = $1 -- a\n AND b = $2 -- b"), ["-- a", "-- b"]);
    }

    #[test]
    fn what_never_ends_is_survived() {
        for text in ["'", "$$", "$a$ x", "/*", "/* /* */", "$", "a$", "--"] {
            assert_eq!(scan(text).last().map(|token| token.end), Some(text.len()), "{text}");
        }
        let tags: String = (0..200_000).map(|n| format!("$a{n}$ ")).collect();
        assert_eq!(scan(&tags).last().map(|token| token.end), Some(tags.len()));
    }
}
