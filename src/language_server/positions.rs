//! Places as editors count them: lines and characters from 0, a character being a byte, a UTF-16 unit or a code
//! point, as both sides have agreed. Every place that an editor names leads to one in the text.

use std::sync::Arc;

use gen_lsp_types::{Position, PositionEncodingKind, Range};

use crate::facts::Span;

/// What a character of a line is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Encoding {
    Utf8,
    /// What both sides count in when they agree on nothing.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The first that costs nothing among those that an editor offers.
    pub(super) fn choose(offered: &[&str]) -> Self {
        let known = [("utf-8", Self::Utf8), ("utf-32", Self::Utf32)];
        known.into_iter().find(|(name, _)| offered.contains(name)).map_or(Self::Utf16, |(_, found)| found)
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn length(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text and where its lines start.
#[derive(Debug)]
pub(super) struct Lines {
    text: Arc<str>,
    starts: Vec<usize>,
    encoding: Encoding,
}

impl Lines {
    /// A text as the editor holds it.
    pub(super) fn new(text: Arc<str>, encoding: Encoding) -> Self {
        Self { starts: line_starts(&text, 0), text, encoding }
    }

    /// A text as it stands on disk: an editor that opens it leaves the byte order mark out.
    pub(super) fn of_file(text: Arc<str>, encoding: Encoding) -> Self {
        let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        Self { starts: line_starts(&text, mark), text, encoding }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        let (start, end) = (span.start as usize, span.end.max(span.start) as usize);
        Range { start: self.position(start), end: self.position(end) }
    }

    fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = self.text.get(start..).unwrap_or("").char_indices();
        let before = before.take_while(|(at, character)| start + at + character.len_utf8() <= offset);
        let character = before.map(|(_, character)| self.encoding.length(character)).sum();
        Position { line: count(line), character: count(character) }
    }

    /// The byte of a place; the nearest one before it, where it names none.
    pub(super) fn offset(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.text.len() };
        let mut left = position.character as usize;
        let mut at = start;
        for character in self.text.get(start..).unwrap_or("").chars() {
            let length = self.encoding.length(character);
            if matches!(character, '\n' | '\r') || length > left {
                break;
            }
            left -= length;
            at += character.len_utf8();
        }
        at
    }

    /// The bytes of a range, turned round where it runs backwards.
    pub(super) fn bytes(&self, range: Range) -> std::ops::Range<usize> {
        let (a, b) = (self.offset(range.start), self.offset(range.end));
        a.min(b)..a.max(b)
    }
}

/// The protocol knows three line breaks, and the rest of this program one.
fn line_starts(text: &str, first: usize) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends_line = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    std::iter::once(first).chain((0..bytes.len()).filter(ends_line).map(|at| at + 1)).collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn lines(encoding: Encoding) -> Lines {
        Lines::new("aß🔒z\r\n\rlast".into(), encoding)
    }

    #[test]
    fn a_character_is_what_both_sides_have_agreed_on() {
        for (encoding, of_z) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            let lines = lines(encoding);
            assert_eq!(lines.position(7), at(0, of_z));
            assert_eq!(lines.offset(at(0, of_z)), 7);
            assert_eq!(lines.range(Span::new(7, 8)).end, at(0, of_z + 1));
        }
    }

    #[test]
    fn each_of_the_three_line_breaks_ends_a_line() {
        let lines = lines(Encoding::Utf16);
        assert_eq!(lines.position(11), at(2, 0));
        assert_eq!(lines.offset(at(1, 0)), 10);
        assert_eq!(lines.offset(at(2, 4)), 15);
    }

    #[test]
    fn a_place_that_is_none_leads_to_the_nearest_one() {
        let lines = lines(Encoding::Utf16);
        // Behind the end of a line, in the middle of a pair of units, and behind the last line.
        assert_eq!(lines.offset(at(0, 99)), 8);
        assert_eq!(lines.offset(at(0, 3)), 3);
        assert_eq!(lines.offset(at(9, 9)), 15);
        assert_eq!(lines.position(2), at(0, 1));
        assert_eq!(lines.position(99), at(2, 4));
        assert_eq!(lines.bytes(Range { start: at(2, 1), end: at(0, 1) }), 1..12);
        assert_eq!(Lines::new("".into(), Encoding::Utf8).offset(at(0, 1)), 0);
    }

    #[test]
    fn a_byte_order_mark_on_disk_is_no_character() {
        let text: Arc<str> = "\u{feff}ab\nc".into();
        assert_eq!(Lines::of_file(text.clone(), Encoding::Utf16).position(4), at(0, 1));
        assert_eq!(Lines::of_file(text.clone(), Encoding::Utf16).position(0), at(0, 0));
        assert_eq!(Lines::of_file(text.clone(), Encoding::Utf8).offset(at(0, 1)), 4);
        assert_eq!(Lines::new(text, Encoding::Utf16).position(4), at(0, 2));
    }

    #[test]
    fn what_costs_least_is_chosen_of_what_is_offered() {
        assert_eq!(Encoding::choose(&["utf-16", "utf-8"]), Encoding::Utf8);
        assert_eq!(Encoding::choose(&["utf-16", "utf-32"]), Encoding::Utf32);
        assert_eq!(Encoding::choose(&["utf-7"]), Encoding::Utf16);
        assert_eq!(Encoding::choose(&[]), Encoding::Utf16);
    }
}
