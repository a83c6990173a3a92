//! Fingerprints: code that moves, or is laid out otherwise, keeps them, so that a baseline holds; what is another
//! finding has another one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use leaselint::facts::FileId;
use leaselint::report::{SourceView, fingerprint};
use leaselint::rules;
use proc_macro2::{TokenStream, TokenTree};
use proptest::prelude::*;

use crate::cases;
use crate::facts::{below, fixtures};
use crate::runs::{run, write};

/// The folders of fixtures that have findings.
fn bad_cases() -> Vec<PathBuf> {
    let rules = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
    let cases = rules.flat_map(|rule| fs::read_dir(rule).unwrap().map(|entry| entry.unwrap().path()));
    let is_bad = |case: &PathBuf| case.file_name().unwrap().to_string_lossy().starts_with("bad_");
    let mut cases: Vec<PathBuf> = cases.filter(is_bad).collect();
    cases.sort();
    assert!(cases.len() > 100, "there are fixtures");
    cases
}

/// The lines, from 0, before which a line of code may be put: none that begins inside of a literal, or that a
/// suppression stands above.
fn free_lines(path: &str, text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    if !path.ends_with(".rs") {
        let is_sql_or_lua = path.ends_with(".sql") || path.ends_with(".lua");
        let may_move = is_sql_or_lua && !text.starts_with("#!") && !text.starts_with('\u{feff}');
        return if may_move { vec![0] } else { Vec::new() };
    }
    let Ok(tokens) = text.parse::<TokenStream>() else { return Vec::new() };
    let mut taken = BTreeSet::new();
    note_literals(tokens, &mut taken);
    let is_free = |at: &usize| {
        let above = at.checked_sub(1).map_or("", |above| lines[above]);
        !taken.contains(at) && !above.contains("leaselint:") && !above.trim_start().starts_with("//")
    };
    if text.contains("/*") { Vec::new() } else { (0..lines.len()).filter(is_free).collect() }
}

/// The lines that begin inside of a token.
fn note_literals(tokens: TokenStream, taken: &mut BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => note_literals(group.stream(), taken),
            // Lines count from 1: the second line of a token is the one with the number of the first.
            other => taken.extend(other.span().start().line..other.span().end().line),
        }
    }
}

/// What is done to a file: before which of its free lines something is put, and what.
#[derive(Debug, Clone)]
struct Layout {
    places: Vec<(prop::sample::Index, &'static str)>,
    indented: bool,
}

fn layouts() -> impl Strategy<Value = Layout> {
    let added = prop::sample::select(vec!["", "    ", "// A comment.", "\n\n"]);
    (prop::collection::vec((any::<prop::sample::Index>(), added), 1..6), any::<bool>())
        .prop_map(|(places, indented)| Layout { places, indented })
}

fn laid_out(path: &str, text: &str, layout: &Layout) -> String {
    let free = free_lines(path, text);
    if free.is_empty() {
        return text.to_owned();
    }
    let is_rust = path.ends_with(".rs");
    let mut out = String::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        for (place, added) in &layout.places {
            if free[place.index(free.len())] == at {
                out.push_str(if is_rust || added.trim().is_empty() { added } else { "-- A comment." });
                out.push('\n');
            }
        }
        if layout.indented && is_rust && free.contains(&at) {
            out.push('\t');
        }
        out.push_str(line);
    }
    out
}

/// Copies a case, with its files changed.
fn copy(case: &Path, folder: &Path, change: impl Fn(&str, &str) -> String) {
    for file in below(case) {
        let path = file.strip_prefix(case).unwrap().to_string_lossy().replace('\\', "/");
        if path == "expected.txt" {
            continue;
        }
        match fs::read_to_string(&file) {
            Ok(text) => write(folder, &path, change(&path, &text)),
            Err(_) => write(folder, &path, fs::read(&file).unwrap()),
        }
    }
}

fn leaselint(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    let output =
        command.current_dir(folder).args(arguments).args(["--no-cache", "--jobs", "1"]).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// The files of a run under other names.
struct Renamed<'a>(&'a dyn SourceView, String);

impl SourceView for Renamed<'_> {
    fn path(&self, _: FileId) -> &str {
        &self.1
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        self.0.text(file)
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn code_that_moves_keeps_its_fingerprints(case in prop::sample::select(bad_cases()), layout in layouts()) {
        let folder = tempfile::tempdir().unwrap();
        let prints = |folder: &Path| {
            let (report, sources) = run(folder);
            let mut prints = fingerprint::all(&report.findings, &sources);
            prints.sort();
            prints
        };
        copy(&case, folder.path(), |_, text| text.to_owned());
        let before = prints(folder.path());
        prop_assert!(!before.is_empty(), "{case:?} has findings");
        copy(&case, folder.path(), |path, text| laid_out(path, text, &layout));
        prop_assert_eq!(before, prints(folder.path()), "{:?}", case);
    }

    #[test]
    fn what_is_another_finding_has_another_one(
        case in prop::sample::select(bad_cases()),
        rule in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        copy(&case, folder.path(), |_, text| text.to_owned());
        let (report, sources) = run(folder.path());
        let prints = fingerprint::all(&report.findings, &sources);
        prop_assert_eq!(prints.iter().collect::<BTreeSet<_>>().len(), prints.len(), "no two findings share one");
        let other = rules::all()[rule.index(rules::all().len())].name;
        for (finding, print) in report.findings.iter().zip(&prints) {
            let alone = fingerprint::all(std::slice::from_ref(finding), &sources);
            let mut changed = finding.clone();
            changed.rule = other;
            let of_rule = fingerprint::all(std::slice::from_ref(&changed), &sources);
            prop_assert_eq!(of_rule == alone, other == finding.rule);
            let elsewhere = Renamed(&sources, format!("{}x", sources.path(finding.primary.file)));
            let of_file = fingerprint::all(std::slice::from_ref(finding), &elsewhere);
            prop_assert!(of_file != alone && of_file[0] != *print);
        }
    }
}

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn a_baseline_holds_for_code_that_moves(case in prop::sample::select(bad_cases()), layout in layouts()) {
        let folder = tempfile::tempdir().unwrap();
        copy(&case, folder.path(), |_, text| text.to_owned());
        let count = |report: &serde_json::Value| report["findings"].as_array().unwrap().len() as u64;
        let check = ["check", "--format", "json", "--baseline", "known.json"];
        leaselint(folder.path(), &["baseline", "--baseline", "known.json"]);
        let all = count(&leaselint(folder.path(), &["check", "--format", "json"]));
        copy(&case, folder.path(), |path, text| laid_out(path, text, &layout));
        let report = leaselint(folder.path(), &check);
        prop_assert_eq!(count(&report), 0, "{:?}", case);
        prop_assert_eq!(report["summary"]["baselined"].as_u64(), Some(all));
    }
}
