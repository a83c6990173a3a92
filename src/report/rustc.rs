//! The report for programs that read `cargo --message-format=json`, rust-analyzer before all: one line a
//! finding, a rustc diagnostic in cargo's `compiler-message`.
//!
//! rust-analyzer clears what an earlier run said of the same package, so that all findings belong to one
//! package that no other tool speaks of. It shows secondary places only when they have a label, and
//! nothing at all of a diagnostic whose primary place is in no Rust file.

use std::io::{self, Write};

use serde::Serialize;

use super::places::Places;
use super::written::json_line;
use super::{SourceView, human, rule_url};
use crate::facts::Location;
use crate::finding::{Applicability, Finding, Fix, Severity};

#[derive(Serialize)]
struct Envelope<'a> {
    reason: &'static str,
    package_id: &'static str,
    target: Target,
    message: Diagnostic<'a>,
}

#[derive(Serialize)]
struct Target {
    kind: [&'static str; 1],
    name: &'static str,
    src_path: &'static str,
}

#[derive(Serialize)]
struct Diagnostic<'a> {
    #[serde(rename = "$message_type")]
    message_type: &'static str,
    message: String,
    code: Option<Code>,
    level: &'static str,
    spans: Vec<Span<'a>>,
    children: Vec<Diagnostic<'a>>,
    rendered: Option<String>,
}

#[derive(Serialize)]
struct Code {
    code: String,
    explanation: Option<String>,
}

#[derive(Serialize)]
struct Span<'a> {
    file_name: &'a str,
    byte_start: u32,
    byte_end: u32,
    line_start: u32,
    line_end: u32,
    column_start: u32,
    column_end: u32,
    is_primary: bool,
    text: Vec<Line>,
    label: Option<&'a str>,
    suggested_replacement: Option<&'a str>,
    suggestion_applicability: Option<&'static str>,
    expansion: Option<()>,
}

#[derive(Serialize)]
struct Line {
    text: String,
    highlight_start: u32,
    highlight_end: u32,
}

/// Writes one line for each finding.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    for (finding, rendered) in findings.iter().zip(human::rendered(findings, sources)?) {
        let envelope = Envelope {
            reason: "compiler-message",
            package_id: "leaselint",
            target: Target { kind: ["leaselint"], name: "leaselint", src_path: "" },
            message: diagnostic(finding, rendered, &mut places),
        };
        json_line(out, &envelope)?;
    }
    Ok(())
}

fn diagnostic<'a>(finding: &'a Finding, rendered: String, places: &mut Places<'a>) -> Diagnostic<'a> {
    let lock = finding.lock.iter().map(|lock| child("note", format!("lock: {lock}")));
    let mut children: Vec<Diagnostic<'_>> = vec![child("help", finding.help.clone())];
    children.extend(lock);
    children.extend(finding.fixes.iter().map(|fix| suggestion(fix, places)));
    children.push(child("note", format!("see {}", rule_url(finding.rule))));
    Diagnostic {
        message: finding.message.clone(),
        // Its first half is shown as the source, its second as the code.
        code: Some(Code { code: format!("leaselint::{}", finding.rule), explanation: None }),
        level: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "note",
        },
        spans: spans(finding, places),
        children,
        rendered: Some(rendered),
        ..child("", String::new())
    }
}

/// Editors offer a child whose spans all have a replacement as one quick fix, under its message.
fn suggestion<'a>(fix: &'a Fix, places: &mut Places<'a>) -> Diagnostic<'a> {
    let applicability = match fix.applicability {
        Applicability::Machine => "MachineApplicable",
        Applicability::Suggestion => "MaybeIncorrect",
    };
    let spans = fix.edits.iter().map(|edit| Span {
        suggested_replacement: Some(&edit.replacement),
        suggestion_applicability: Some(applicability),
        ..span(edit.location, None, true, places)
    });
    Diagnostic { spans: spans.collect(), ..child("help", fix.title.clone()) }
}

fn child<'a>(level: &'static str, message: String) -> Diagnostic<'a> {
    Diagnostic {
        message_type: "diagnostic",
        message,
        code: None,
        level,
        spans: Vec::new(),
        children: Vec::new(),
        rendered: None,
    }
}

/// All places, the primary one first: the finding's own, or, when that is in no Rust file, the first one
/// that is.
fn spans<'a>(finding: &'a Finding, places: &mut Places<'a>) -> Vec<Span<'a>> {
    let mut labels: Vec<(Location, &str)> = vec![(finding.primary, &finding.primary_label)];
    labels.extend(finding.related.iter().map(|label| (label.location, label.message.as_str())));
    let is_rust = |(location, _): &(Location, &str)| places.path(*location).ends_with(".rs");
    let primary = labels.iter().position(is_rust).unwrap_or(0);
    labels[..=primary].rotate_right(1);
    let mut is_primary = true;
    let mut spans = Vec::with_capacity(labels.len());
    for (location, label) in labels {
        spans.push(span(location, Some(label), is_primary, places));
        is_primary = false;
    }
    spans
}

fn span<'a>(
    location: Location,
    label: Option<&'a str>,
    is_primary: bool,
    places: &mut Places<'a>,
) -> Span<'a> {
    let span = places.bounded(location);
    let lines = places.lines(location).into_iter().map(|line| Line {
        text: line.text.to_owned(),
        highlight_start: line.from,
        highlight_end: line.to,
    });
    Span {
        text: lines.collect(),
        file_name: places.path(location),
        byte_start: span.start.offset,
        byte_end: span.end.offset,
        line_start: span.start.line,
        line_end: span.end.line,
        column_start: span.start.column,
        column_end: span.end.column,
        is_primary,
        label,
        suggested_replacement: None,
        suggestion_applicability: None,
        expansion: None,
    }
}
