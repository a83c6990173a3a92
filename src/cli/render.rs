//! Hands a report to the printer of the format that was asked for.

use std::io;

use super::arguments::Format;
use crate::check::Report;
use crate::report::human::Look;
use crate::report::{checkstyle, github, gitlab, human, json, junit, rdjson, rustc, sarif};
use crate::sources::Sources;

/// The report as text.
pub(super) fn render(
    format: Format,
    report: &Report,
    sources: &Sources,
    look: Look,
    runs: human::Runs,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let (out, findings, summary) = (&mut text, &report.findings[..], &report.summary);
    match format {
        Format::Human => human::write(out, findings, summary, sources, look, runs)?,
        Format::Concise => human::write_concise(out, findings, sources, look)?,
        Format::Json => json::write(out, findings, summary, sources)?,
        Format::Sarif => sarif::write(out, findings, sources)?,
        Format::Rustc => rustc::write(out, findings, sources)?,
        Format::Github => github::write(out, findings, sources)?,
        Format::Gitlab => gitlab::write(out, findings, sources)?,
        Format::Rdjson => rdjson::write(out, findings, sources)?,
        Format::Rdjsonl => rdjson::write_lines(out, findings, sources)?,
        Format::Junit => junit::write(out, findings, sources)?,
        Format::Checkstyle => checkstyle::write(out, findings, sources)?,
    }
    Ok(text)
}
