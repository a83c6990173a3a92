//! Lines and columns of byte offsets, as people and programs count them.

/// Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Where the lines of one text start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The place of a byte of the text that the index was made from; the end's for an offset beyond it.
    /// A byte order mark is no column.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = (offset as usize).min(text.len());
        let line = self.line_of(offset);
        let before = &text.as_bytes()[self.starts[line]..offset];
        let mut column = before.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        if line == 0 && text.starts_with(BYTE_ORDER_MARK) {
            column = column.saturating_sub(1);
        }
        Position { line: count(line), column: count(column) }
    }

    /// The text of the line that holds a byte, without its break.
    pub fn line_at<'t>(&self, text: &'t str, offset: u32) -> &'t str {
        let line = self.line_of((offset as usize).min(text.len()));
        text[self.starts[line]..].lines().next().unwrap_or("")
    }

    /// Where the line that holds a byte starts; behind a byte order mark, as columns do.
    pub fn line_start(&self, text: &str, offset: u32) -> usize {
        match self.line_of((offset as usize).min(text.len())) {
            0 if text.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len_utf8(),
            line => self.starts[line],
        }
    }

    /// The text of a line by its number, without its break; empty beyond the last.
    pub fn line<'t>(&self, text: &'t str, number: u32) -> &'t str {
        let start = (number as usize).checked_sub(1).and_then(|line| self.starts.get(line));
        let line = start.and_then(|start| text[*start..].lines().next()).unwrap_or("");
        line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
    }

    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

fn count(from_zero: usize) -> u32 {
    u32::try_from(from_zero).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: u32) -> (u32, u32) {
        let Position { line, column } = LineIndex::new(text).position(text, offset);
        (line, column)
    }

    #[test]
    fn columns_are_characters() {
        assert_eq!(at("é = 1", 3), (1, 3));
        assert_eq!(at("a\r\né!", 5), (2, 2));
        assert_eq!(at("a\n", 2), (2, 1));
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("\u{feff}ab", 3), (1, 1));
    }

    #[test]
    fn an_offset_in_no_place_is_harmless() {
        assert_eq!(at("ab", 99), (1, 3));
        assert_eq!(at("é", 1), (1, 2));
        assert_eq!(at("\u{feff}", 0), (1, 1));
    }

    #[test]
    fn a_line_comes_without_its_break() {
        let text = "one\r\ntwo\n";
        let index = LineIndex::new(text);
        assert_eq!(index.line_at(text, 1), "one");
        assert_eq!(index.line_at(text, 6), "two");
        assert_eq!(index.line_at(text, 9), "");
        assert_eq!(index.line_at(text, 500), "");
    }
}
