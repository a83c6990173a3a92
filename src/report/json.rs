//! The report for programs: one JSON object, described by `schemas/findings.schema.json`.
//!
//! The types below are the contract. A field may be added; none changes its meaning within a schema
//! number.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::{LineIndex, SourceView, fingerprint, sanitize};
use crate::facts::{FileId, Location};
use crate::finding::{Confidence, Finding, Severity, Summary};
use crate::rules;

/// The JSON Schema of the report.
pub const SCHEMA: &str = include_str!("../../schemas/findings.schema.json");

/// Where a rule's page is found, followed by its name.
const RULE_PAGES: &str = "https://leaselint.dev/rules/";

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: Tool,
    findings: Vec<JsonFinding<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    group: &'a str,
    severity: Severity,
    confidence: Confidence,
    message: &'a str,
    path: &'a str,
    span: JsonSpan,
    related: Vec<Related<'a>>,
    lock: Option<&'a str>,
    help: &'a str,
    fixes: [Fix; 0],
    counterexample: [Step; 0],
    fingerprint: String,
    url: String,
}

#[derive(Serialize)]
struct Related<'a> {
    path: &'a str,
    span: JsonSpan,
    message: &'a str,
}

#[derive(Serialize)]
struct JsonSpan {
    start: Place,
    end: Place,
}

/// Lines and columns from 1, columns in characters; the offset in bytes from 0.
#[derive(Serialize)]
struct Place {
    line: u32,
    column: u32,
    offset: u32,
}

/// No rule offers one yet; the field is there for those who read it.
#[derive(Serialize)]
struct Fix;

/// As [`Fix`].
#[derive(Serialize)]
struct Step;

/// Writes the report, and a line break.
pub fn write(
    out: &mut dyn Write,
    findings: &[Finding],
    summary: &Summary,
    sources: &dyn SourceView,
) -> io::Result<()> {
    let mut places = Places { sources, files: BTreeMap::new() };
    let fingerprints = fingerprint::all(findings, sources);
    let document = Document {
        schema: 1,
        tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
        findings: findings
            .iter()
            .zip(fingerprints)
            .map(|(f, print)| finding(f, print, &mut places))
            .collect(),
        summary: *summary,
    };
    let text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
    writeln!(out, "{}", escaped(&text))
}

fn finding<'a>(from: &'a Finding, fingerprint: String, places: &mut Places<'a>) -> JsonFinding<'a> {
    let related = from.related.iter().map(|label| Related {
        path: places.sources.path(label.location.file),
        span: places.span(label.location),
        message: &label.message,
    });
    let related = related.collect();
    JsonFinding {
        rule: from.rule,
        group: rules::find(from.rule).map_or("", |rule| rule.group.as_str()),
        severity: from.severity,
        confidence: from.confidence,
        message: &from.message,
        path: places.sources.path(from.primary.file),
        span: places.span(from.primary),
        related,
        lock: from.lock.as_deref(),
        help: &from.help,
        fixes: [],
        counterexample: [],
        fingerprint,
        url: format!("{RULE_PAGES}{}", from.rule),
    }
}

/// Controls that JSON itself lets through become escapes; they can stand in strings only.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if sanitize::is_control(c) || c == '\u{7f}' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The files that findings stand in, with their lines.
struct Places<'a> {
    sources: &'a dyn SourceView,
    files: BTreeMap<FileId, (Arc<str>, LineIndex)>,
}

impl Places<'_> {
    fn span(&mut self, location: Location) -> JsonSpan {
        let sources = self.sources;
        let (text, index) = self.files.entry(location.file).or_insert_with(|| {
            let text = sources.text(location.file).unwrap_or_default();
            let index = LineIndex::new(&text);
            (text, index)
        });
        let place = |offset: u32| {
            let position = index.position(text, offset);
            Place { line: position.line, column: position.column, offset }
        };
        JsonSpan { start: place(location.span.start), end: place(location.span.end) }
    }
}

#[cfg(test)]
mod tests;
