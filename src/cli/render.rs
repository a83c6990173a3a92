//! Hands a report to the printer of the format that was asked for.
//!
//! Until the printers of `crate::report` are merged, it prints a plain form of each format itself.

use std::fmt::Write;

use serde_json::{Value, json};

use super::arguments::Format;
use crate::check::Report;
use crate::facts::Location;
use crate::finding::{Finding, Severity};
use crate::rules;
use crate::sources::Sources;

/// The report as text.
pub(super) fn render(format: Format, report: &Report, sources: &Sources, _colored: bool) -> String {
    match format {
        Format::Human => lines(report, sources),
        Format::Json => format!("{}\n", object(report, sources)),
    }
}

fn lines(report: &Report, sources: &Sources) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let place = sources.position(finding.primary.file, finding.primary.span.start);
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let (path, rule) = (sources.path(finding.primary.file), finding.rule);
        let (line, column) = (place.line, place.column);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{path}:{line}:{column}: {severity}[{rule}]: {}", finding.message);
        let _ = writeln!(text, "  help: {}", finding.help);
    }
    let summary = report.summary;
    let _ = writeln!(
        text,
        "{} errors, {} warnings, {} infos in {} files ({} suppressed)",
        summary.errors, summary.warnings, summary.infos, summary.files, summary.suppressed
    );
    text
}

fn object(report: &Report, sources: &Sources) -> Value {
    let summary = report.summary;
    json!({
        "schema": 1,
        "tool": {"name": "leaselint", "version": env!("CARGO_PKG_VERSION")},
        "findings": report.findings.iter().map(|finding| finding_object(finding, sources)).collect::<Vec<_>>(),
        "summary": {
            "files": summary.files, "parsed": summary.parsed, "errors": summary.errors,
            "warnings": summary.warnings, "infos": summary.infos, "suppressed": summary.suppressed,
            "baselined": summary.baselined,
        },
    })
}

fn finding_object(finding: &Finding, sources: &Sources) -> Value {
    json!({
        "rule": finding.rule,
        "group": rules::find(finding.rule).map(|rule| &rule.group),
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "path": sources.path(finding.primary.file),
        "span": span_object(finding.primary, sources),
        "related": finding.related.iter().map(|label| json!({
            "path": sources.path(label.location.file),
            "span": span_object(label.location, sources),
            "message": label.message,
        })).collect::<Vec<_>>(),
        "lock": finding.lock,
        "help": finding.help,
    })
}

fn span_object(location: Location, sources: &Sources) -> Value {
    let end = |offset| {
        let position = sources.position(location.file, offset);
        json!({"line": position.line, "column": position.column, "offset": offset})
    };
    json!({"start": end(location.span.start), "end": end(location.span.end)})
}
