//! The report for reviewdog: its diagnostic format, as one object or as one diagnostic a line.
//!
//! Its columns count bytes, unlike those of all other formats.

use std::io::{self, Write};

use serde::Serialize;

use super::places::{Place, Places};
use super::written::{json_line, pretty_json};
use super::{HOME, SourceView, rule_url};
use crate::facts::{FileId, Location as Where};
use crate::finding::{Finding, Fix, Severity};

#[derive(Serialize)]
struct Document<'a> {
    source: Source,
    diagnostics: Vec<Diagnostic<'a>>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
    url: &'static str,
}

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: String,
    location: Location<'a>,
    severity: &'static str,
    /// For a diagnostic that stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
    code: Code<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related<'a>>,
    /// Each is offered by itself, so that only fixes of one edit in the finding's file are told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'a>>,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    range: Range,
    text: &'a str,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    range: Range,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Code<'a> {
    value: &'a str,
    url: String,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    location: Location<'a>,
}

const SOURCE: Source = Source { name: "leaselint", url: HOME };

/// Writes one object.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    let diagnostics = findings.iter().map(|finding| diagnostic(finding, &mut places)).collect();
    pretty_json(out, &Document { source: SOURCE, diagnostics })
}

/// Writes one line for each finding.
pub fn write_lines(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    for finding in findings {
        let one = Diagnostic { source: Some(SOURCE), ..diagnostic(finding, &mut places) };
        json_line(out, &one)?;
    }
    Ok(())
}

fn diagnostic<'a>(finding: &'a Finding, places: &mut Places<'a>) -> Diagnostic<'a> {
    let related = finding
        .related
        .iter()
        .map(|label| Related { message: &label.message, location: location(label.location, places) });
    let related_locations = related.collect();
    let suggestion = |fix: &'a Fix| match fix.edits.as_slice() {
        [edit] if edit.location.file == finding.primary.file => {
            Some(Suggestion { range: location(edit.location, places).range, text: &edit.replacement })
        }
        _ => None,
    };
    let suggestions = finding.fixes.iter().filter_map(suggestion).collect();
    Diagnostic {
        related_locations,
        suggestions,
        message: format!("{}\nhelp: {}", finding.message, finding.help),
        location: location(finding.primary, places),
        severity: match finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info => "INFO",
        },
        source: None,
        code: Code { value: finding.rule, url: rule_url(finding.rule) },
    }
}

fn location<'a>(at: Where, places: &mut Places<'a>) -> Location<'a> {
    let span = places.bounded(at);
    let range =
        Range { start: position(at.file, span.start, places), end: position(at.file, span.end, places) };
    Location { path: places.path(at), range }
}

fn position(file: FileId, place: Place, places: &mut Places<'_>) -> Position {
    Position { line: place.line, column: places.byte_column(file, place) }
}
