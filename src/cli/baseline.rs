//! The file of known findings: what `leaselint baseline` writes, and what `check` takes out of its report.
//!
//! Findings are known by their fingerprints, counted from the file's own folder, so that it does not matter
//! where the tool is run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::report_file;
use crate::check::Report;
use crate::facts::FileId;
use crate::finding::{Finding, Severity};
use crate::report::{SourceView, fingerprint};
use crate::sources::{ReadError, Sources, read_text};

/// The name that `leaselint baseline` writes when none is given.
pub(super) const FILE_NAME: &str = "leaselint-baseline.json";

const SCHEMA: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub(super) enum BaselineError {
    #[error("cannot read the baseline {}: {source}; `leaselint baseline` writes one", path.display())]
    Unreadable { path: PathBuf, source: ReadError },
    #[error("{} is no baseline of leaselint: {message}; `leaselint baseline` writes a new one", path.display())]
    Malformed { path: PathBuf, message: String },
    #[error("cannot write {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    schema: u32,
    findings: Vec<Entry>,
}

/// The fingerprint decides; the rest is for whoever reads the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    path: String,
    rule: String,
    fingerprint: String,
}

/// Takes the known findings out of a report; gives what a person should hear.
pub(super) fn apply(
    report: &mut Report,
    sources: &Sources,
    path: &Path,
) -> Result<Vec<String>, BaselineError> {
    let mut known: BTreeMap<String, Entry> =
        read(path)?.findings.into_iter().map(|entry| (entry.fingerprint.clone(), entry)).collect();
    let view = FromFolder::new(sources, path);
    let prints = fingerprint::all(&report.findings, &view);
    let before = report.findings.len();
    let mut prints = prints.into_iter();
    report.findings.retain(|_| prints.next().is_none_or(|print| known.remove(&print).is_none()));
    report.summary.baselined = before - report.findings.len();
    let count = |severity| report.findings.iter().filter(|f| f.severity == severity).count();
    report.summary.errors = count(Severity::Error);
    report.summary.warnings = count(Severity::Warning);
    report.summary.infos = count(Severity::Info);
    let reported = view.reported();
    let stale = known.values().filter(|entry| reported.contains(entry.path.as_str())).count();
    let note = format!(
        "{stale} of the findings in {} are gone; `leaselint baseline` takes them out",
        path.display()
    );
    Ok(if stale > 0 { vec![note] } else { Vec::new() })
}

/// Writes all findings of a report; entries of files that the run did not report on are kept.
pub(super) fn write(findings: &[Finding], sources: &Sources, path: &Path) -> Result<usize, BaselineError> {
    let view = FromFolder::new(sources, path);
    let mut entries: BTreeSet<Entry> = findings
        .iter()
        .zip(fingerprint::all(findings, &view))
        .map(|(finding, fingerprint)| Entry {
            path: view.path(finding.primary.file).to_owned(),
            rule: finding.rule.to_owned(),
            fingerprint,
        })
        .collect();
    let count = entries.len();
    if path.exists() {
        let (reported, root) = (view.reported(), path.parent().unwrap_or(Path::new("")));
        let others = read(path)?.findings.into_iter();
        entries.extend(
            others.filter(|entry| !reported.contains(entry.path.as_str()) && root.join(&entry.path).exists()),
        );
    }
    let document = Document { schema: SCHEMA, findings: entries.into_iter().collect() };
    let unwritable = |source| BaselineError::Unwritable { path: path.to_owned(), source };
    let mut text = serde_json::to_string_pretty(&document).map_err(io::Error::other).map_err(unwritable)?;
    text.push('\n');
    report_file::write(path, text.as_bytes()).map_err(unwritable)?;
    Ok(count)
}

fn read(path: &Path) -> Result<Document, BaselineError> {
    let text =
        read_text(path).map_err(|source| BaselineError::Unreadable { path: path.to_owned(), source })?;
    let malformed = |message: String| BaselineError::Malformed { path: path.to_owned(), message };
    let document: Document = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    if document.schema != SCHEMA {
        return Err(malformed(format!("its schema is {}, and this version reads {SCHEMA}", document.schema)));
    }
    Ok(document)
}

/// The files of a run, with paths from a baseline's folder.
struct FromFolder<'a> {
    sources: &'a Sources,
    paths: Vec<String>,
}

impl<'a> FromFolder<'a> {
    fn new(sources: &'a Sources, baseline: &Path) -> Self {
        let folder = baseline.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let paths = sources.files().map(|(id, _)| sources.path_from(id, &folder)).collect();
        Self { sources, paths }
    }

    fn reported(&self) -> BTreeSet<&str> {
        let reported = self.sources.files().filter(|(_, file)| file.reported);
        reported.map(|(id, _)| self.path(id)).collect()
    }
}

impl SourceView for FromFolder<'_> {
    fn path(&self, file: FileId) -> &str {
        self.paths.get(file.0 as usize).map_or("", String::as_str)
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        self.sources.text(file)
    }
}
