//! Lines and columns of byte offsets.

/// A place as people count it: lines and columns from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Where the lines of one text start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = ends.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// The position of a byte of `text`, which must be the text that the index was made from. An
    /// offset beyond the end is the end's.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).map_or(0, |start| *start as usize);
        let end = (offset as usize).min(text.len());
        let before = &text.as_bytes()[start.min(end)..end];
        // Counting the bytes that do not continue a character needs no character boundary at `end`.
        let mut characters = before.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        if line == 0 && text.starts_with(BYTE_ORDER_MARK) {
            characters = characters.saturating_sub(1);
        }
        Position { line: to_count(line), column: to_count(characters) }
    }
}

fn to_count(from_zero: usize) -> u32 {
    u32::try_from(from_zero).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, offset: u32) -> (u32, u32) {
        let place = LineIndex::new(text).position(text, offset);
        (place.line, place.column)
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(position("é = 1", 0), (1, 1));
        assert_eq!(position("é = 1", 2), (1, 2));
        assert_eq!(position("a\r\né!", 5), (2, 2));
        assert_eq!(position("a\n", 2), (2, 1));
        assert_eq!(position("", 0), (1, 1));
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(position("\u{feff}ab\ncd", 0), (1, 1));
        assert_eq!(position("\u{feff}ab\ncd", 3), (1, 1));
        assert_eq!(position("\u{feff}ab\ncd", 4), (1, 2));
        assert_eq!(position("\u{feff}ab\ncd", 7), (2, 2));
    }

    #[test]
    fn an_offset_outside_the_text_or_inside_a_character_is_harmless() {
        assert_eq!(position("ab", 99), (1, 3));
        assert_eq!(position("é", 1), (1, 2));
    }
}
