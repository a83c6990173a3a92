//! The target of a whole run: from the files of an input to findings, to every form of report, and to fixes.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use leaselint::check::{FailOn, Options, Progress, Report, Selection, Stop, Timings, check as run};
use leaselint::configuration::Configuration;
use leaselint::facts::Location;
use leaselint::finding::Applicability;
use leaselint::fixing;
use leaselint::report::audit::{Document, write_html, write_human, write_json, write_markdown};
use leaselint::report::human::{self, Look, Runs};
use leaselint::report::{SourceView, checkstyle, github, gitlab, json, junit, rdjson, rustc, sarif};
use leaselint::resolve::Models;
use leaselint::sources::Sources;

use crate::places::assert_lies_in;
use crate::tree;

/// The folder, as the system resolves it.
static FOLDER: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    // It ends the search for a configuration and for a workspace.
    let resolved = folder.path().canonicalize().expect("it exists");
    fs::create_dir_all(resolved.join("tree")).expect("a folder can be made");
    (folder, resolved.join("tree"))
});

/// `check --fix` and `audit`, on the tree that the input describes.
pub fn check(data: &[u8]) {
    let folder = &FOLDER.1;
    let files = tree::files(data);
    if tree::write(folder, &files).is_err() {
        return;
    }
    let Ok(configuration) = Configuration::discover(&[".".into()], folder) else { return };
    let options = options(folder, configuration);
    let (report, sources) = run(&options).expect("a run over files that exist ends with a report");
    assert_is_sound(&report, &sources);
    assert_is_written(&report, &sources);
    let fixed = fixing::apply(&report.findings, Applicability::Suggestion, &sources);
    if fixed.texts.is_empty() {
        return;
    }
    let unreadable = |report: &Report| {
        let found = report.findings.iter().filter(|finding| finding.rule == "unreadable-input");
        found.map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    let before = unreadable(&report);
    for (file, text) in &fixed.texts {
        fs::write(sources.absolute(*file), text).expect("it was written before");
    }
    let (after, sources) = run(&options).expect("a fixed tree can be checked");
    assert_is_sound(&after, &sources);
    assert!(unreadable(&after).len() <= before.len(), "a fix broke the syntax: {:?}", unreadable(&after));
}

fn options(folder: &Path, configuration: Configuration) -> Options {
    Options {
        paths: vec![".".into()],
        working_directory: folder.to_owned(),
        no_ignore: false,
        tests: false,
        jobs: NonZeroUsize::new(1),
        selection: Selection::new(&[], &[], true, FailOn::Warning).expect("it names no rule"),
        models: Models::with(configuration.clients.clone(), configuration.signal_crates.clone()),
        unsaved: Vec::new(),
        changes: None,
        configuration: Arc::new(configuration),
        kept: Arc::default(),
        cache: None,
        stop: Stop::default(),
        progress: Progress::default(),
        timings: Timings::default(),
        audits: true,
    }
}

fn assert_is_sound(report: &Report, sources: &Sources) {
    for finding in &report.findings {
        assert!(!finding.message.contains("a defect of leaselint"), "{}", finding.message);
        let edits = finding.fixes.iter().flat_map(|fix| &fix.edits).map(|edit| edit.location);
        let related = finding.related.iter().map(|label| label.location);
        let steps = finding.counterexample.iter().flat_map(|run| &run.steps).map(|step| step.location);
        let lies = |place: Location| {
            if let Some(text) = sources.text(place.file) {
                assert_lies_in(&text, place.span, finding.rule);
            }
        };
        [finding.primary].into_iter().chain(edits).chain(related).chain(steps).for_each(lies);
    }
}

fn assert_is_written(report: &Report, sources: &Sources) {
    let (findings, summary) = (&report.findings[..], &report.summary);
    let view: &dyn SourceView = sources;
    let mut out = Vec::new();
    let written = [
        human::write(&mut out, findings, summary, view, Look::default(), Runs::All),
        human::write_concise(&mut out, findings, view, Look::default()),
        json::write(&mut out, findings, summary, view),
        sarif::write(&mut out, findings, view),
        rustc::write(&mut out, findings, view),
        github::write(&mut out, findings, view),
        gitlab::write(&mut out, findings, view),
        rdjson::write(&mut out, findings, view),
        rdjson::write_lines(&mut out, findings, view),
        junit::write(&mut out, findings, view),
        checkstyle::write(&mut out, findings, view),
    ];
    written.into_iter().for_each(|result| result.expect("a vector takes everything"));
    let Some(audit) = &report.audit else { return };
    let document = Document { audit, findings, sources: view };
    for write in [write_human, write_json, write_markdown, write_html] {
        write(&mut out, &document).expect("a vector takes everything");
    }
}
