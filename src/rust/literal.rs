//! String literals: their value, and where each byte of it was written.

use crate::facts::TextMap;
use crate::facts::rust::TextLiteral;

/// Decodes a literal as written (quotes, prefix and hashes included) at `offset` of its file.
/// `None` when it is not a string literal after all.
pub(super) fn decode(written: &str, offset: u32) -> Option<TextLiteral> {
    let body = written.trim_start_matches(['b', 'c']);
    let prefix = written.len() - body.len();
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let open = prefix + 1 + hashes + 1;
        let inner = written.get(open..written.len().checked_sub(1 + hashes)?)?;
        return Some(copy(inner, offset + open as u32));
    }
    let inner = body.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescape(inner, offset + prefix as u32 + 1))
}

/// A raw literal: only line ends change.
fn copy(inner: &str, offset: u32) -> TextLiteral {
    let mut literal =
        TextLiteral { value: String::with_capacity(inner.len()), map: TextMap::verbatim(offset) };
    for (at, c) in inner.char_indices() {
        if c == '\r' && inner[at + 1..].starts_with('\n') {
            continue;
        }
        literal.map.push(literal.value.len() as u32, offset + at as u32);
        literal.value.push(c);
    }
    literal
}

fn unescape(inner: &str, offset: u32) -> TextLiteral {
    let mut literal =
        TextLiteral { value: String::with_capacity(inner.len()), map: TextMap::verbatim(offset) };
    let mut at = 0;
    while let Some(c) = inner[at..].chars().next() {
        let rest = &inner[at..];
        let (value, length) = match c {
            '\\' => escape(rest),
            '\r' if rest.starts_with("\r\n") => (None, 1),
            _ => (Some(c), c.len_utf8()),
        };
        if let Some(value) = value {
            let (end, source) = (literal.value.len() as u32, offset + at as u32);
            if c == '\\' {
                literal.map.push_escape(end, source, length as u32);
            } else {
                literal.map.push(end, source);
            }
            literal.value.push(value);
        }
        at += length;
    }
    literal
}

/// The character that an escape stands for (none for a joined line), and the escape's length.
fn escape(rest: &str) -> (Option<char>, usize) {
    let mut chars = rest.chars();
    chars.next();
    match chars.next() {
        Some('n') => (Some('\n'), 2),
        Some('t') => (Some('\t'), 2),
        Some('r') => (Some('\r'), 2),
        Some('0') => (Some('\0'), 2),
        Some('x') => {
            let value = rest.get(2..4).and_then(|hex| u8::from_str_radix(hex, 16).ok());
            (value.map(char::from), if value.is_some() { 4 } else { 2 })
        }
        Some('u') => {
            let end = rest.find('}').unwrap_or(1);
            let hex = rest.get(3..end).unwrap_or("").replace('_', "");
            let value = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
            (value, end + 1)
        }
        Some('\n' | '\r') => {
            let after = &rest[1..];
            // These and no other white space, as the compiler has it.
            (None, 1 + after.len() - after.trim_start_matches([' ', '\t', '\n', '\r']).len())
        }
        Some(other) => (Some(other), 1 + other.len_utf8()),
        None => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Span;

    fn value(written: &str) -> String {
        decode(written, 0).expect("a string literal").value
    }

    #[test]
    fn values() {
        assert_eq!(value(r#""a\n\"b\u{e9}\x41""#), "a\n\"b\u{e9}A");
        assert_eq!(value("\"a \\\n     b\""), "a b");
        assert_eq!(value("r#\"x\"y\"#"), "x\"y");
        assert_eq!(value("b\"GET\""), "GET");
        assert_eq!(value("\"a\r\nb\""), "a\nb");
        assert_eq!(value("r\"a\r\nb\""), "a\nb");
    }

    #[test]
    fn places_behind_an_escape_and_a_joined_line() {
        let written = "\"é\\\" x \\\n   WHERE\"";
        let literal = decode(written, 100).expect("a string literal");
        let start = literal.value.find("WHERE").expect("the value holds the word") as u32;
        let span = literal.map.source_span(Span::new(start, start + 5));
        assert_eq!(&written[span.start as usize - 100..span.end as usize - 100], "WHERE");
    }
}
