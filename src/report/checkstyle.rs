//! The report for whatever reads Checkstyle's XML: a `file` for each file with an `error` for each finding.

use std::io::{self, Write};

use super::SourceView;
use super::places::Places;
use super::written::xml;
use crate::finding::{Finding, Severity};

/// Writes the document.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<checkstyle version="4.3">"#)?;
    for of_file in findings.chunk_by(|a, b| a.primary.file == b.primary.file) {
        let Some(first) = of_file.first() else { continue };
        writeln!(out, r#"  <file name="{}">"#, xml(places.path(first.primary)))?;
        for finding in of_file {
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "info",
            };
            let start = places.bounded(finding.primary).start;
            writeln!(
                out,
                r#"    <error line="{}" column="{}" severity="{severity}" message="{}" source="leaselint.{}"/>"#,
                start.line,
                start.column,
                xml(&format!("{}; help: {}", finding.message, finding.help)),
                xml(finding.rule),
            )?;
        }
        writeln!(out, "  </file>")?;
    }
    writeln!(out, "</checkstyle>")
}
