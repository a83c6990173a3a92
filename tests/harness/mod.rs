//! Runs one fixture folder and compares what was found with what its marks say.

pub(crate) mod marks;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use marks::Mark;
use serde::Deserialize;

pub(crate) struct Case {
    /// `rule::folder`.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

/// Every `fixtures/<rule>/<case>`, sorted.
pub(crate) fn cases(root: &Path) -> Vec<Case> {
    let mut out = Vec::new();
    for rule in folders(root) {
        for folder in folders(&rule) {
            out.push(Case { name: format!("{}::{}", file_name(&rule), file_name(&folder)), folder });
        }
    }
    out
}

#[derive(Deserialize)]
struct Report {
    findings: Vec<Found>,
}

#[derive(Debug, Clone, Deserialize)]
struct Found {
    rule: String,
    message: String,
    path: String,
    span: Span,
}

#[derive(Debug, Clone, Deserialize)]
struct Span {
    start: Place,
}

#[derive(Debug, Clone, Deserialize)]
struct Place {
    line: usize,
}

/// Runs a case; the error is what a person needs to see.
pub(crate) fn run(case: &Case, bless: bool) -> Result<(), String> {
    let text = output(&case.folder, "json")?;
    let report: Report = serde_json::from_str(&text)
        .map_err(|error| format!("not the JSON of the contract: {error}\n{text}"))?;
    let marks = marks::of_folder(&case.folder)?;
    let mut complaints = Vec::new();
    let is_good = file_name(&case.folder).starts_with("good_");
    if is_good && !marks.is_empty() {
        complaints.push("a folder named good_ must hold no mark".to_owned());
    }
    if !is_good && marks.is_empty() {
        complaints.push("a folder without a mark must be named good_".to_owned());
    }
    complaints.extend(differences(&marks, &report.findings));
    complaints.extend(report.findings.iter().filter_map(style));
    complaints.extend(compare_text(case, !report.findings.is_empty(), bless)?);
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!("in {}\n{}", case.folder.display(), complaints.join("\n")))
}

fn differences(marks: &[Mark], findings: &[Found]) -> Vec<String> {
    let mut left: Vec<&Found> = findings.iter().collect();
    let mut out = Vec::new();
    for mark in marks {
        match left.iter().position(|found| mark.fits(&found.path, found.span.start.line, &found.rule)) {
            Some(at) => {
                let found = left.remove(at);
                if !found.message.contains(&mark.message) {
                    out.push(format!(
                        "  message     {}:{}  {}: wanted {:?} in {:?}",
                        mark.path, mark.line, mark.rule, mark.message, found.message
                    ));
                }
            }
            None => out.push(format!("  missing     {}:{}  {}", mark.path, mark.line, mark.rule)),
        }
    }
    out.extend(left.iter().map(|found| {
        format!("  unexpected  {}:{}  {}: {}", found.path, found.span.start.line, found.rule, found.message)
    }));
    out
}

/// Messages start in lower case and end without a full stop, as rustc's do.
fn style(found: &Found) -> Option<String> {
    let capital = found.message.chars().next().is_none_or(char::is_uppercase);
    (capital || found.message.ends_with('.')).then(|| {
        format!(
            "  style       {}: {:?} must start in lower case and end without a full stop",
            found.rule, found.message
        )
    })
}

fn compare_text(case: &Case, has_findings: bool, bless: bool) -> Result<Option<String>, String> {
    let path = case.folder.join("expected.txt");
    let wanted = fs::read_to_string(&path).ok();
    let text = output(&case.folder, "human")?;
    let found = has_findings.then_some(text);
    if wanted == found {
        return Ok(None);
    }
    if bless {
        let done = match found {
            Some(text) => fs::write(&path, text),
            None => fs::remove_file(&path),
        };
        return done.map(|()| None).map_err(|error| format!("{}: {error}", path.display()));
    }
    let shown = found.unwrap_or_else(|| "(nothing)\n".to_owned());
    Ok(Some(format!("  the text is not that of expected.txt (BLESS=1 rewrites it); it is now:\n{shown}")))
}

fn output(folder: &Path, format: &str) -> Result<String, String> {
    // Remarks are shown on demand only.
    let pedantic = file_name(folder).ends_with("_pedantic").then_some("--pedantic");
    let done = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(["check", "--color", "never", "--format", format, "."])
        .args(pedantic)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("the binary does not start: {error}"))?;
    let errors = String::from_utf8_lossy(&done.stderr);
    if !matches!(done.status.code(), Some(0 | 1)) {
        return Err(format!("{} with --format {format}: {errors}", done.status));
    }
    String::from_utf8(done.stdout).map_err(|_| format!("the {format} report is not UTF-8"))
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let found: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.into_iter().collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A test of the comparison itself, which must see each kind of difference.
pub(crate) fn self_test() -> libtest_mimic::Trial {
    let found = |line, rule: &str, message: &str| Found {
        rule: rule.to_owned(),
        message: message.to_owned(),
        path: "a.rs".to_owned(),
        span: Span { start: Place { line } },
    };
    let mark = |line, rule: &str, message: &str| Mark {
        path: "a.rs".to_owned(),
        line,
        rule: rule.to_owned(),
        message: message.to_owned(),
    };
    let marks = [mark(1, "x", "own"), mark(2, "y", ""), mark(2, "y", ""), mark(3, "z", "other")];
    let findings = [found(1, "x", "the owner"), found(2, "y", ""), found(3, "z", "same"), found(4, "x", "")];
    let kinds: Vec<String> = differences(&marks, &findings)
        .iter()
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    libtest_mimic::Trial::test("harness::sees_differences", move || {
        let wanted = ["missing a.rs:2", "message a.rs:3", "unexpected a.rs:4"];
        if kinds == wanted { Ok(()) } else { Err(format!("{kinds:?}").into()) }
    })
}
