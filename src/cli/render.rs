//! Hands a report to the printer of the format that was asked for.

use std::io;

use super::arguments::Format;
use crate::check::Report;
use crate::report::{human, json};
use crate::sources::Sources;

/// The report as text.
pub(super) fn render(
    format: Format,
    report: &Report,
    sources: &Sources,
    colored: bool,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match format {
        Format::Human => human::write(&mut text, &report.findings, &report.summary, sources, colored)?,
        Format::Json => json::write(&mut text, &report.findings, &report.summary, sources)?,
    }
    Ok(text)
}
