//! The report for programs: one JSON object, described by `schemas/findings.schema.json`.
//!
//! The types below are the contract. A field may be added; none changes its meaning within a schema
//! number.

use std::io::{self, Write};

use serde::Serialize;

use super::places::{PlaceSpan, Places};
use super::written::pretty_json;
use super::{SourceView, fingerprint, rule_url};
use crate::finding::{Applicability, Confidence, Edit, Finding, Fix, RunStep, Severity, Summary};
use crate::rules;

/// The JSON Schema of the report.
pub const SCHEMA: &str = include_str!("../../schemas/findings.schema.json");

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
    span: PlaceSpan,
    related: Vec<Related<'a>>,
    lock: Option<&'a str>,
    help: &'a str,
    fixes: Vec<JsonFix<'a>>,
    counterexample: Vec<Step<'a>>,
    fingerprint: String,
    url: String,
}

#[derive(Serialize)]
struct Related<'a> {
    path: &'a str,
    span: PlaceSpan,
    message: &'a str,
}

#[derive(Serialize)]
struct JsonFix<'a> {
    title: &'a str,
    applicability: &'static str,
    edits: Vec<JsonEdit<'a>>,
}

#[derive(Serialize)]
struct JsonEdit<'a> {
    path: &'a str,
    span: PlaceSpan,
    replacement: &'a str,
}

/// One event of a shortest run that ends in the harm.
#[derive(Serialize)]
struct Step<'a> {
    actor: &'static str,
    action: &'a str,
    path: &'a str,
    span: PlaceSpan,
    /// What has become of the store or the database.
    effect: Option<Effect<'a>>,
    /// The sources do not show the step; the place is the nearest one.
    assumed: bool,
}

#[derive(Serialize)]
struct Effect<'a> {
    on: &'static str,
    text: &'a str,
}

/// Writes the report, and a line break.
pub fn write(
    out: &mut dyn Write,
    findings: &[Finding],
    summary: &Summary,
    sources: &dyn SourceView,
) -> io::Result<()> {
    let mut places = Places::new(sources);
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
    pretty_json(out, &document)
}

fn finding<'a>(from: &'a Finding, fingerprint: String, places: &mut Places<'a>) -> JsonFinding<'a> {
    let related = from.related.iter().map(|label| Related {
        path: places.path(label.location),
        span: places.span(label.location),
        message: &label.message,
    });
    let related = related.collect();
    let fixes = from.fixes.iter().map(|one| fix(one, places)).collect();
    JsonFinding {
        rule: from.rule,
        group: rules::find(from.rule).map_or("", |rule| rule.group.as_str()),
        severity: from.severity,
        confidence: from.confidence,
        message: &from.message,
        path: places.path(from.primary),
        span: places.span(from.primary),
        related,
        lock: from.lock.as_deref(),
        help: &from.help,
        fixes,
        counterexample: run(from, places),
        fingerprint,
        url: rule_url(from.rule),
    }
}

fn run<'a>(from: &'a Finding, places: &mut Places<'a>) -> Vec<Step<'a>> {
    let steps = from.counterexample.iter().flat_map(|run| &run.steps);
    let step = |step: &'a RunStep| Step {
        actor: step.actor.name(),
        action: &step.action,
        path: places.path(step.location),
        span: places.span(step.location),
        effect: step.effect.as_ref().map(|(on, text)| Effect { on: on.name(), text }),
        assumed: step.is_assumed,
    };
    steps.map(step).collect()
}

fn fix<'a>(from: &'a Fix, places: &mut Places<'a>) -> JsonFix<'a> {
    let edit = |edit: &'a Edit| JsonEdit {
        path: places.path(edit.location),
        span: places.span(edit.location),
        replacement: &edit.replacement,
    };
    JsonFix {
        title: &from.title,
        applicability: match from.applicability {
            Applicability::Machine => "safe",
            Applicability::Suggestion => "unsafe",
        },
        edits: from.edits.iter().map(edit).collect(),
    }
}

#[cfg(test)]
mod tests;
