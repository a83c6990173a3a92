//! `check --fix` and `--diff`: rounds of checking and fixing in memory, then all files at once.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::report_file;
use crate::changes::{UncommittedError, refuse_uncommitted};
use crate::check::{CheckError, Options, Report, check};
use crate::finding::{Applicability, Finding};
use crate::fixing::{self, Fixed};
use crate::sources::{Sources, Unsaved};

/// A fix may uncover a finding that can be fixed as well.
const MOST_ROUNDS: usize = 64;

/// Why nothing was fixed.
#[derive(Debug, thiserror::Error)]
pub(super) enum FixError {
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Uncommitted(#[from] UncommittedError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} changed while it was being fixed; nothing was written to it", .0.display())]
    ChangedMeanwhile(PathBuf),
}

/// What fixing has led to.
pub(super) struct Outcome {
    /// The report on the texts after it.
    pub(super) report: Report,
    pub(super) sources: Sources,
    pub(super) count: usize,
    changed: BTreeMap<PathBuf, Change>,
}

struct Change {
    shown: String,
    old: Arc<str>,
    new: Arc<str>,
}

/// Checks, fixes what can be fixed, and checks again, in memory. `prepare` leaves out of each report what is
/// not to be fixed.
pub(super) fn fix_all<E: From<FixError>>(
    options: &Options,
    least: Applicability,
    mut prepare: impl FnMut(&mut Report, &Sources) -> Result<(), E>,
) -> Result<Outcome, E> {
    let mut checked = |options: &Options| -> Result<Checked, E> {
        let (mut report, sources) = check(options).map_err(FixError::from)?;
        prepare(&mut report, &sources)?;
        Ok(Checked { report, sources, options: options.clone() })
    };
    let mut now = checked(options)?;
    let (mut changed, mut count) = (BTreeMap::new(), 0);
    for _ in 0..MOST_ROUNDS {
        let findings: Vec<&Finding> = now.report.findings.iter().collect();
        let all = fixing::apply(findings.iter().copied(), least, &now.sources);
        if all.texts.is_empty() {
            break;
        }
        // Where they do not all mend their findings, one that does is looked for.
        let alone = findings.iter().map(|one| fixing::apply([*one], least, &now.sources));
        let attempts = std::iter::once(all.clone()).chain(alone.filter(|fixed| !fixed.texts.is_empty()));
        let mut next = None;
        for attempt in attempts {
            let found = checked(&now.with(&attempt))?;
            if mends(&now.report, &found.report, &attempt) {
                count += attempt.rules.len();
                next = Some(found);
                break;
            }
        }
        let Some(next) = next else {
            now.report.notes.push("fixes that would not have mended their findings were left out".to_owned());
            break;
        };
        for unsaved in &next.options.unsaved {
            note_change(&mut changed, unsaved, &now.sources);
        }
        now = next;
    }
    Ok(Outcome { report: now.report, sources: now.sources, count, changed })
}

/// A report and what it is about.
struct Checked {
    report: Report,
    sources: Sources,
    options: Options,
}

impl Checked {
    /// The next run, on the texts after these fixes.
    fn with(&self, fixed: &Fixed) -> Options {
        let mut options = self.options.clone();
        for (file, text) in &fixed.texts {
            let path = self.sources.absolute(*file).to_owned();
            options.unsaved.retain(|unsaved| unsaved.path != path);
            options.unsaved.push(Unsaved { path, text: text.as_str().into() });
        }
        options
    }
}

/// Whether each finding is gone, and every file can still be read. What is not so is never written.
fn mends(before: &Report, after: &Report, fixed: &Fixed) -> bool {
    let count = |report: &Report, rule: &str| report.findings.iter().filter(|f| f.rule == rule).count();
    let is_gone = |rule: &&str| {
        let mended = fixed.rules.iter().filter(|other| *other == rule).count();
        count(after, rule) + mended <= count(before, rule)
    };
    fixed.rules.iter().all(is_gone) && unreadable(after) <= unreadable(before)
}

fn unreadable(report: &Report) -> usize {
    report.findings.iter().filter(|finding| finding.rule == "unreadable-input").count()
}

/// Keeps the text as it was before the first round.
fn note_change(changed: &mut BTreeMap<PathBuf, Change>, unsaved: &Unsaved, sources: &Sources) {
    if let Some(known) = changed.get_mut(&unsaved.path) {
        known.new = unsaved.text.clone();
        return;
    }
    let Some((file, found)) = sources.files().find(|(_, file)| file.absolute() == unsaved.path) else {
        return;
    };
    if let Some(old) = sources.text(file) {
        let change = Change { shown: found.path().to_owned(), old, new: unsaved.text.clone() };
        changed.insert(unsaved.path.clone(), change);
    }
}

impl Outcome {
    /// What would be changed, as `patch` and `git apply` read it.
    pub(super) fn difference(&self) -> String {
        let changes = self.changed.values();
        changes.map(|change| fixing::difference(&change.shown, &change.old, &change.new)).collect()
    }

    /// Writes every changed file, each of them whole or not at all.
    pub(super) fn write(&self, allow_dirty: bool) -> Result<(), FixError> {
        let paths: Vec<&Path> = self.changed.keys().map(PathBuf::as_path).collect();
        if !allow_dirty {
            refuse_uncommitted(&paths)?;
        }
        for (path, change) in &self.changed {
            let now = crate::sources::read_text(path);
            if now.ok().as_deref() != Some(&*change.old) {
                return Err(FixError::ChangedMeanwhile(path.clone()));
            }
        }
        for (path, change) in &self.changed {
            report_file::write(path, change.new.as_bytes())
                .map_err(|source| FixError::Write { path: path.clone(), source })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn outcome(changes: &[(&Path, &str, &str)]) -> Outcome {
        let change = |old: &str, new: &str| Change { shown: String::new(), old: old.into(), new: new.into() };
        let changed = changes.iter().map(|(path, old, new)| (path.to_path_buf(), change(old, new)));
        let (report, sources) = (Report::default(), Sources::default());
        Outcome { report, sources, count: changes.len(), changed: changed.collect() }
    }

    #[test]
    fn a_file_that_changed_while_it_was_fixed_stops_all_writing() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.rs"), folder.path().join("b.rs"));
        fs::write(&a, "old").unwrap();
        fs::write(&b, "typed meanwhile").unwrap();
        let refused = outcome(&[(&a, "old", "new"), (&b, "old", "new")]).write(true);
        assert!(matches!(refused, Err(FixError::ChangedMeanwhile(path)) if path == b));
        assert_eq!(fs::read_to_string(&a).unwrap(), "old");
        fs::remove_file(&b).unwrap();
        assert!(outcome(&[(&b, "old", "new")]).write(true).is_err());
        assert!(!b.exists());
        outcome(&[(&a, "old", "new")]).write(true).unwrap();
        assert_eq!(fs::read_to_string(&a).unwrap(), "new");
    }
}
