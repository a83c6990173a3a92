//! Where findings stand, in lines and columns: the files of a report with their lines, read once each.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::SourceView;
use crate::facts::lines::LineIndex;
use crate::facts::{FileId, Location};

/// Lines and columns from 1, columns in characters; the offset in bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) offset: u32,
}

/// From `start` up to, and without, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct PlaceSpan {
    pub(super) start: Place,
    pub(super) end: Place,
}

/// One line of a span, and which of its characters belong to it (from 1, the end exclusive).
pub(super) struct SpanLine<'t> {
    pub(super) text: &'t str,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The files that findings stand in, with their lines.
pub(super) struct Places<'a> {
    sources: &'a dyn SourceView,
    files: BTreeMap<FileId, (Arc<str>, LineIndex)>,
}

impl<'a> Places<'a> {
    pub(super) fn new(sources: &'a dyn SourceView) -> Self {
        Self { sources, files: BTreeMap::new() }
    }

    pub(super) fn path(&self, location: Location) -> &'a str {
        self.sources.path(location.file)
    }

    fn file(&mut self, file: FileId) -> &(Arc<str>, LineIndex) {
        let sources = self.sources;
        self.files.entry(file).or_insert_with(|| {
            let text = sources.text(file).unwrap_or_default();
            let index = LineIndex::new(&text);
            (text, index)
        })
    }

    /// The span as the rule gave it.
    pub(super) fn span(&mut self, location: Location) -> PlaceSpan {
        let (text, index) = self.file(location.file);
        let place = |offset: u32| {
            let position = index.position(text, offset);
            Place { line: position.line, column: position.column, offset }
        };
        PlaceSpan { start: place(location.span.start), end: place(location.span.end) }
    }

    /// The span inside its file, its end not before its start, for readers that check that.
    pub(super) fn bounded(&mut self, location: Location) -> PlaceSpan {
        let length = u32::try_from(self.file(location.file).0.len()).unwrap_or(u32::MAX);
        let start = location.span.start.min(length);
        let end = location.span.end.clamp(start, length);
        let span = crate::facts::Span::new(start, end);
        self.span(Location { file: location.file, span })
    }

    /// The column in bytes, from 1.
    pub(super) fn byte_column(&mut self, file: FileId, place: Place) -> u32 {
        let (text, index) = self.file(file);
        let start = u32::try_from(index.line_start(text, place.offset)).unwrap_or(u32::MAX);
        place.offset.saturating_sub(start).saturating_add(1)
    }

    /// The lines of a span, without their breaks.
    pub(super) fn lines(&mut self, location: Location) -> Vec<SpanLine<'_>> {
        let span = self.bounded(location);
        let (text, index) = self.file(location.file);
        (span.start.line..=span.end.line)
            .map(|number| {
                let line = index.line(text, number);
                let length = u32::try_from(line.chars().count()).unwrap_or(u32::MAX);
                let from = if number == span.start.line { span.start.column } else { 1 };
                let to = if number == span.end.line { span.end.column } else { length.saturating_add(1) };
                SpanLine { text: line, from, to }
            })
            .collect()
    }
}
