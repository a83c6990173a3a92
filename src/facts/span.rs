//! Places: byte spans, files by number, and the map from the value of a literal back to its source.

use serde::{Deserialize, Serialize};

/// A file of the run, by its position in the sorted list of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// A span in a named file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub file: FileId,
    pub span: Span,
}

/// Maps offsets in the *value* of a text (a string literal after its escapes, a whole file, or a text
/// put together from several literals) to offsets in the file it was written in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TextMap {
    /// Sorted by `value`; each segment reaches to the start of the next one.
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Segment {
    value: u32,
    source: u32,
}

impl TextMap {
    /// A text whose bytes stand in the file as they are, starting at `source`.
    pub fn verbatim(source: u32) -> Self {
        Self { segments: vec![Segment { value: 0, source }] }
    }

    /// Says that from `value` on the text stands at `source`.
    pub fn push(&mut self, value: u32, source: u32) {
        if let Some(last) = self.segments.last_mut() {
            if last.value == value {
                last.source = source;
                return;
            }
            if last.source.wrapping_add(value - last.value) == source {
                return;
            }
        }
        self.segments.push(Segment { value, source });
    }

    /// Where the byte at `value` was written.
    pub fn source_offset(&self, value: u32) -> u32 {
        let at = self.segments.partition_point(|s| s.value <= value);
        match at.checked_sub(1).and_then(|i| self.segments.get(i)) {
            Some(s) => s.source + (value - s.value),
            None => value,
        }
    }

    /// The span in the source of a span of the value.
    pub fn source_span(&self, value: Span) -> Span {
        let start = self.source_offset(value.start);
        if value.end <= value.start {
            return Span::new(start, start);
        }
        let last = self.source_offset(value.end - 1);
        Span::new(start, last.max(start) + 1)
    }

    /// The segments as (offset in the value, offset in the source).
    pub fn segments(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.segments.iter().map(|s| (s.value, s.source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_moves_the_rest_of_the_text() {
        // "a\nb" at offset 10: the value is `a`, newline, `b`; the escape takes two bytes.
        let mut map = TextMap::verbatim(11);
        map.push(1, 12);
        map.push(2, 14);
        assert_eq!(map.source_offset(0), 11);
        assert_eq!(map.source_offset(1), 12);
        assert_eq!(map.source_offset(2), 14);
        assert_eq!(map.source_span(Span::new(0, 3)), Span::new(11, 15));
        assert_eq!(map.segments().count(), 2);
    }
}
