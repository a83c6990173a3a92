//! The report for GitLab's merge requests: a Code Quality artifact, one array of findings.

use std::io::{self, Write};

use serde::Serialize;

use super::places::Places;
use super::written::pretty_json;
use super::{SourceView, fingerprint};
use crate::finding::{Finding, Severity};

#[derive(Serialize)]
struct Issue<'a> {
    check_name: &'a str,
    description: String,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    positions: Positions,
}

#[derive(Serialize)]
struct Positions {
    begin: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
    column: u32,
}

/// Writes the array, which is there even when it is empty.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    let mut issues = Vec::with_capacity(findings.len());
    for (finding, fingerprint) in findings.iter().zip(fingerprint::all(findings, sources)) {
        let span = places.bounded(finding.primary);
        issues.push(Issue {
            check_name: finding.rule,
            // GitLab shows no rule but what the description says.
            description: format!("{}: {}", finding.rule, finding.message),
            fingerprint,
            severity: match finding.severity {
                Severity::Error => "critical",
                Severity::Warning => "major",
                Severity::Info => "info",
            },
            location: Location {
                path: places.path(finding.primary),
                positions: Positions {
                    begin: Position { line: span.start.line, column: span.start.column },
                    end: Position { line: span.end.line, column: span.end.column },
                },
            },
        });
    }
    pretty_json(out, &issues)
}
