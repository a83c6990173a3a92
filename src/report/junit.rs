//! The report for test dashboards: JUnit's XML, a suite for each file and a failed case for each finding.

use std::io::{self, Write};

use super::SourceView;
use super::places::Places;
use super::written::xml;
use crate::finding::{Finding, Severity};

/// Writes the document. Without findings it holds one case that passed: an empty one says to most readers
/// that nothing was run.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    let total = findings.len().max(1);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="leaselint" tests="{total}" failures="{}" errors="0">"#,
        findings.len()
    )?;
    if findings.is_empty() {
        writeln!(out, r#"  <testsuite name="leaselint" tests="1" failures="0" errors="0" disabled="0">"#)?;
        writeln!(out, r#"    <testcase name="no problems found" classname="leaselint"/>"#)?;
        writeln!(out, "  </testsuite>")?;
    }
    for of_file in findings.chunk_by(|a, b| a.primary.file == b.primary.file) {
        let Some(first) = of_file.first() else { continue };
        let path = places.path(first.primary);
        let count = of_file.len();
        writeln!(
            out,
            r#"  <testsuite name="{}" tests="{count}" failures="{count}" errors="0" disabled="0">"#,
            xml(path)
        )?;
        for finding in of_file {
            write_case(out, finding, path, &mut places)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn write_case(out: &mut dyn Write, finding: &Finding, path: &str, places: &mut Places<'_>) -> io::Result<()> {
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    let start = places.bounded(finding.primary).start;
    let place = format!("{path}:{}:{}", start.line, start.column);
    // The place belongs to the name: dashboards take cases of one name for one case.
    let name = format!("{} at {}:{}", finding.rule, start.line, start.column);
    writeln!(out, r#"    <testcase name="{}" classname="{}">"#, xml(&name), xml(path))?;
    writeln!(out, r#"      <failure message="{}" type="{kind}">"#, xml(&finding.message))?;
    writeln!(out, "{}", xml(&format!("{place}: {}", finding.primary_label)))?;
    for label in &finding.related {
        let start = places.bounded(label.location).start;
        let path = places.path(label.location);
        let line = format!("{path}:{}:{}: {}", start.line, start.column, label.message);
        writeln!(out, "{}", xml(&line))?;
    }
    writeln!(out, "help: {}</failure>", xml(&finding.help))?;
    writeln!(out, "    </testcase>")
}
