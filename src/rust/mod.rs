//! The Rust front end: the only room that names `syn`.
//!
//! It turns the text of one file into facts and judges nothing. Callers run it on a thread whose stack
//! is large enough for the depth that `sources` lets through.

mod literal;
mod lower;

use crate::facts::Span;
use crate::facts::rust::RustFile;

/// A text that is no Rust: where the parser stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    pub span: Span,
    pub message: String,
}

/// Reads one file.
///
/// # Errors
/// When the text is not a Rust file; nothing of it is known then.
pub fn parse(text: &str) -> Result<RustFile, ParseError> {
    let skipped = preamble(text);
    let code = &text[skipped..];
    let result = syn::parse_file(code);
    let facts = match result {
        Ok(file) => Ok(lower::file(&file, code, skipped as u32)),
        Err(error) => {
            let span = lower::span_of(error.span(), skipped as u32);
            Err(ParseError { span: within(span, text), message: reason(&error) })
        }
    };
    // The parser keeps every text it has seen until told otherwise; positions are taken out by now.
    proc_macro2::extra::invalidate_current_thread_spans();
    facts
}

/// The length of a byte-order mark and a `#!` line, which the parser would cut off without a trace in its
/// positions.
fn preamble(text: &str) -> usize {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &text[bom..];
    let is_shebang = rest.strip_prefix("#!").is_some_and(|after| !after.trim_start().starts_with('['));
    if is_shebang { bom + rest.find('\n').unwrap_or(rest.len()) } else { bom }
}

fn within(span: Span, text: &str) -> Span {
    let end = text.len() as u32;
    Span::new(span.start.min(end), span.end.min(end))
}

/// What the parser says, in words that tell more than its own where it cannot even find the tokens.
fn reason(error: &syn::Error) -> String {
    let said = error.to_string();
    if said.contains("token stream") {
        return "not valid Rust: a quote or a bracket has no partner, or a character is none of Rust's"
            .to_owned();
    }
    format!("not valid Rust: {said}")
}
