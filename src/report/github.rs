//! The report for GitHub's workflow log: commands that become annotations of the changed files.

use std::io::{self, Write};

use super::SourceView;
use super::places::Places;
use super::sanitize;
use crate::finding::{Finding, Severity};

/// Writes one command for each finding, the gravest first, since GitHub shows only so many of them.
pub fn write(out: &mut dyn Write, findings: &[Finding], sources: &dyn SourceView) -> io::Result<()> {
    let mut places = Places::new(sources);
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for finding in sorted {
        writeln!(out, "{}", command(finding, &mut places))?;
    }
    Ok(())
}

fn command(finding: &Finding, places: &mut Places<'_>) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let path = places.path(finding.primary);
    let span = places.bounded(finding.primary);
    let mut properties = format!("file={},line={}", property(path), span.start.line);
    if span.end.line == span.start.line {
        // Of a span of several lines, GitHub drops an annotation that names columns.
        let end = span.end.column.max(span.start.column);
        properties += &format!(",endLine={},col={},endColumn={end}", span.end.line, span.start.column);
    } else {
        properties += &format!(",endLine={}", span.end.line);
    }
    properties += &format!(",title={}", property(&format!("leaselint ({})", finding.rule)));
    // The log shows the message alone, so that it names the place as well.
    let place = format!("{path}:{}:{}", span.start.line, span.start.column);
    let mut lines = vec![format!("{place}: {}", finding.message)];
    for label in &finding.related {
        let start = places.bounded(label.location).start;
        let path = places.path(label.location);
        lines.push(format!("{path}:{}:{}: {}", start.line, start.column, label.message));
    }
    lines.push(format!("help: {}", finding.help));
    let lines: Vec<String> = lines.iter().map(|line| data(line)).collect();
    format!("::{level} {properties}::{}", lines.join("%0A"))
}

/// A message. Breaks of its own are made visible, so that it cannot start a command.
fn data(text: &str) -> String {
    sanitize::line(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Files, across_files, finding};
    use super::*;

    fn render(files: &Files, findings: &[Finding]) -> String {
        let mut out = Vec::new();
        write(&mut out, findings, files).expect("a vector takes everything");
        String::from_utf8(out).expect("reports are UTF-8")
    }

    #[test]
    fn the_gravest_comes_first_with_its_places() {
        let (files, mut findings) = across_files();
        findings.insert(0, finding(&files, 1, "conn"));
        insta::assert_snapshot!(render(&files, &findings), @r"
        ::error file=src/lock.rs,line=3,endLine=3,col=9,endColumn=17,title=leaselint (unreadable-input)::src/lock.rs:3:9: the release can delete another holder's lock%0Asrc/lock.rs:2:8: compared here%0Asrc/kv.rs:2:5: the command that deletes%0Ahelp: compare and delete in one script
        ::warning file=src/kv.rs,line=2,endLine=2,col=5,endColumn=9,title=leaselint (unreadable-input)::src/kv.rs:2:5: the release can delete another holder's lock%0Ahelp: compare and delete in one script
        ");
    }

    #[test]
    fn nothing_of_a_source_becomes_a_command() {
        let files = Files::new(&[("a,b:c%.rs", "del(\nkey)")]);
        let mut one = finding(&files, 0, "del(\nkey)");
        one.message = "100% of\n::error::it".to_owned();
        let text = render(&files, &[one]);
        assert!(text.starts_with("::warning file=a%2Cb%3Ac%25.rs,line=1,endLine=2,title="), "{text}");
        assert!(text.contains("100%25 of\u{240a}::error::it") && text.lines().count() == 1, "{text}");
    }
}
