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
    /// How many bytes the source takes for the one character here, where it is written otherwise than it is;
    /// 0 for text that stands there as it is.
    escape: u32,
}

impl TextMap {
    /// A text whose bytes stand in the file as they are, starting at `source`.
    pub fn verbatim(source: u32) -> Self {
        Self { segments: vec![Segment { value: 0, source, escape: 0 }] }
    }

    /// Says that from `value` on the text stands at `source`.
    pub fn push(&mut self, value: u32, source: u32) {
        self.push_segment(Segment { value, source, escape: 0 });
    }

    /// Says that the character at `value` is written as an escape of so many bytes at `source`.
    pub fn push_escape(&mut self, value: u32, source: u32, length: u32) {
        self.push_segment(Segment { value, source, escape: length });
    }

    fn push_segment(&mut self, new: Segment) {
        if let Some(last) = self.segments.last_mut() {
            if last.value == new.value {
                *last = new;
                return;
            }
            let goes_on = last.source.wrapping_add(new.value - last.value) == new.source;
            if goes_on && last.escape == 0 && new.escape == 0 {
                return;
            }
        }
        self.segments.push(new);
    }

    /// The map of what stands behind `from` in the value.
    pub fn behind(&self, from: u32) -> Self {
        let first = match self.segment_of(from) {
            Some(segment) if segment.value == from => Segment { value: 0, ..segment },
            _ => Segment { value: 0, source: self.source_offset(from), escape: 0 },
        };
        let others = self.segments.iter().filter(|segment| segment.value > from);
        let others = others.map(|segment| Segment { value: segment.value - from, ..*segment });
        Self { segments: std::iter::once(first).chain(others).collect() }
    }

    /// Puts a text of this map and `length` at `base` in the value.
    pub fn append(&mut self, base: u32, other: &TextMap, length: u32) {
        for segment in other.segments.iter().filter(|segment| segment.value < length) {
            self.push_segment(Segment { value: base + segment.value, ..*segment });
        }
    }

    fn segment_of(&self, value: u32) -> Option<Segment> {
        let at = self.segments.partition_point(|s| s.value <= value);
        at.checked_sub(1).and_then(|i| self.segments.get(i)).copied()
    }

    /// Where the byte at `value` was written.
    pub fn source_offset(&self, value: u32) -> u32 {
        self.segment_of(value).map_or(value, |s| s.source + (value - s.value))
    }

    /// The span in the source of a span of the value.
    pub fn source_span(&self, value: Span) -> Span {
        let start = self.source_offset(value.start);
        if value.end <= value.start {
            return Span::new(start, start);
        }
        let last = value.end - 1;
        let end = self.source_offset(last) + 1;
        // An escape belongs to it as a whole.
        let escape_end =
            self.segment_of(last).map_or(0, |s| if s.escape > 0 { s.source + s.escape } else { 0 });
        Span::new(start, end.max(escape_end).max(start + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_moves_the_rest_of_the_text() {
        // "a\nb" at offset 10: the value is `a`, newline, `b`; the escape takes two bytes.
        let mut map = TextMap::verbatim(11);
        map.push_escape(1, 12, 2);
        map.push(2, 14);
        assert_eq!(map.source_offset(0), 11);
        assert_eq!(map.source_offset(1), 12);
        assert_eq!(map.source_offset(2), 14);
        assert_eq!(map.source_span(Span::new(0, 3)), Span::new(11, 15));
        assert_eq!(map.segments.len(), 3);
        assert_eq!(map.source_span(Span::new(0, 2)), Span::new(11, 14), "an escape is not cut");
        assert_eq!(map.behind(1).source_span(Span::new(0, 1)), Span::new(12, 14));
        let mut joined = TextMap::verbatim(90);
        joined.append(4, &map, 2);
        assert_eq!(joined.source_span(Span::new(4, 6)), Span::new(11, 14));
    }
}
