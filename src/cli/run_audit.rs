//! The command `audit`: every lock with its verdicts, as a page or a table; a gate where it is asked to be one; and
//! what has changed since a revision.

use std::io;
use std::path::{Path, PathBuf};

use super::arguments::{AuditArguments, AuditFormat, AuditItem};
use super::run_options::{OptionsError, asked_for, options_for, working_directory};
use super::{COULD_NOT, FAILED, stream};
use crate::audit::{Audit, Item, Verdict, difference};
use crate::changes::{ChangesError, check_out};
use crate::check::{self, CheckError, Options, Report, check};
use crate::report::audit::{
    Document, write_difference, write_difference_json, write_html, write_human, write_json, write_markdown,
};
use crate::sources::Sources;

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Changes(#[from] ChangesError),
    #[error("there is no folder for the other revision: {0}")]
    Scratch(io::Error),
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
}

pub(super) fn run(arguments: &AuditArguments) -> u8 {
    match try_run(arguments) {
        Ok(code) => code,
        Err(failure) => {
            stream::tell("error", &failure.to_string());
            COULD_NOT
        }
    }
}

fn try_run(arguments: &AuditArguments) -> Result<u8, Failure> {
    let folder = working_directory()?;
    let (report, sources) = audited(arguments, folder.clone(), asked_for(&arguments.paths))?;
    let empty = Audit::default();
    let audit = report.audit.as_ref().unwrap_or(&empty);
    for note in &report.notes {
        stream::tell("note", note);
    }
    let text = match &arguments.diff {
        Some(revision) => {
            let before = at_revision(arguments, revision, &folder)?;
            let changes = difference(&before, audit);
            let mut text = Vec::new();
            match arguments.format {
                AuditFormat::Json => write_difference_json(&mut text, &changes),
                _ => write_difference(&mut text, &changes),
            }
            .map_err(Failure::Stdout)?;
            text
        }
        None => written(arguments.format, audit, &report, &sources).map_err(Failure::Stdout)?,
    };
    stream::print(&text).map_err(Failure::Stdout)?;
    let missed = missed(audit, &arguments.require);
    for line in &missed {
        stream::tell("error", line);
    }
    Ok(if missed.is_empty() { 0 } else { FAILED })
}

fn audited(
    arguments: &AuditArguments,
    folder: PathBuf,
    paths: Vec<PathBuf>,
) -> Result<(Report, Sources), Failure> {
    let options = options_for(&arguments.scope, paths, check::FailOn::Never, folder)?;
    Ok(check(&Options { audits: true, ..options })?)
}

/// The same paths as they were.
fn at_revision(arguments: &AuditArguments, revision: &str, folder: &Path) -> Result<Audit, Failure> {
    let scratch = tempfile::tempdir().map_err(Failure::Scratch)?;
    let there = check_out(revision, folder, scratch.path())?;
    let there = there.canonicalize().unwrap_or(there);
    // What was not there then had no locks.
    let paths: Vec<PathBuf> = asked_for(&arguments.paths)
        .into_iter()
        .map(|path| path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path))
        .filter(|path| path.is_relative() && there.join(path).exists())
        .collect();
    if paths.is_empty() {
        return Ok(Audit::default());
    }
    Ok(audited(arguments, there, paths)?.0.audit.unwrap_or_default())
}

fn written(format: AuditFormat, audit: &Audit, report: &Report, sources: &Sources) -> io::Result<Vec<u8>> {
    let document = Document { audit, findings: &report.findings, sources };
    let mut text = Vec::new();
    match format {
        AuditFormat::Human => write_human(&mut text, &document)?,
        AuditFormat::Markdown => write_markdown(&mut text, &document)?,
        AuditFormat::Html => write_html(&mut text, &document)?,
        AuditFormat::Json => write_json(&mut text, &document)?,
    }
    Ok(text)
}

/// Each lock for which a required item does not hold; what cannot be told does not hold.
fn missed(audit: &Audit, required: &[AuditItem]) -> Vec<String> {
    let mut lines = Vec::new();
    for lock in &audit.locks {
        for item in required.iter().map(|item| item.item()) {
            match lock.verdict(item) {
                Verdict::Holds(_) => {}
                Verdict::Fails(findings) => {
                    let count = findings.len();
                    let noun = if count == 1 { "finding" } else { "findings" };
                    lines.push(format!("`{}`: {} fails with {count} {noun}", lock.name, item.name()));
                }
                Verdict::Unknown(reason) => {
                    lines.push(format!("`{}`: {} cannot be told: {reason}", lock.name, item.name()));
                }
            }
        }
    }
    lines
}

impl AuditItem {
    fn item(self) -> Item {
        match self {
            Self::Storage => Item::Storage,
            Self::Atomic => Item::Atomic,
            Self::Clock => Item::Clock,
            Self::Shutdown => Item::Shutdown,
        }
    }
}
