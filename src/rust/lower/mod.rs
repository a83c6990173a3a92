//! From syntax trees to facts, one module for each kind of node.
//!
//! Spans are put together from tokens and children on the way up; asking the parser for the span of a
//! node walks the whole node each time.

mod expr;
mod item;
mod macros;
mod pattern;
mod tables;
mod types;

use crate::facts::Span;
use crate::facts::rust::RustFile;

/// The text of the file, to read literals as they were written, and the bytes cut off in front of it.
#[derive(Clone, Copy)]
struct Source<'a> {
    code: &'a str,
    offset: u32,
}

impl Source<'_> {
    fn span(&self, span: proc_macro2::Span) -> Span {
        span_of(span, self.offset)
    }

    fn text(&self, span: Span) -> &str {
        let start = span.start.saturating_sub(self.offset) as usize;
        let end = span.end.saturating_sub(self.offset) as usize;
        self.code.get(start..end).unwrap_or("")
    }
}

pub(super) fn span_of(span: proc_macro2::Span, offset: u32) -> Span {
    let range = span.byte_range();
    Span::new(range.start as u32 + offset, range.end as u32 + offset)
}

pub(super) fn file(file: &syn::File, code: &str, offset: u32) -> RustFile {
    let mut items = item::Items::new(Source { code, offset });
    let is_test = item::is_test(&file.attrs);
    items.module(&file.items, is_test);
    items.written_out_entities();
    items.facts
}
