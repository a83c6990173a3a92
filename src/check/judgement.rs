//! What the rules say of one project, and how that becomes a report.
//!
//! A judgement is about all files of its project; only then it is asked which of them the report is about. So
//! it is the same whichever files were named, and can be kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::figures::{self, FileFigures};
use super::{Options, Report, Stage, changed, selection};
use crate::audit::{Audit, audit};
use crate::configuration::Policy;
use crate::facts::FileId;
use crate::facts::file::ParsedFile;
use crate::facts::suppression::{FileSuppressions, JudgedSuppression};
use crate::finding::{Finding, Severity, Summary};
use crate::locks::Inventory;
use crate::sources::Sources;
use crate::{proof, rules, suppression};

/// What was found in one project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Judgement {
    /// In the order in which they are reported.
    pub(super) findings: Vec<Finding>,
    /// Where comments cover findings that would be shown, once for each.
    pub(super) suppressed: Vec<FileId>,
    /// What a person should hear of beside the findings, and of which file.
    pub(super) notes: Vec<(FileId, String)>,
    /// Files that were parsed, and could be.
    pub(super) parsed: Vec<FileId>,
    /// How far the SQL files were read.
    pub(super) sql: Vec<(FileId, FileFigures)>,
}

impl Judgement {
    /// Gives all files other numbers; `false` where one has none.
    pub(super) fn renumber(&mut self, new: impl Fn(FileId) -> Option<FileId>) -> bool {
        let places = self.findings.iter_mut().flat_map(Finding::locations_mut).map(|place| &mut place.file);
        let notes = self.notes.iter_mut().map(|(file, _)| file);
        let sql = self.sql.iter_mut().map(|(file, _)| file);
        let files = places.chain(notes).chain(sql).chain(&mut self.suppressed).chain(&mut self.parsed);
        let mut are_all_known = true;
        for file in files {
            match new(*file) {
                Some(number) => *file = number,
                None => are_all_known = false,
            }
        }
        are_all_known
    }
}

/// From the inventory to what would be reported of all files.
pub(super) fn judge(
    inventory: &mut Inventory,
    parsed: &[ParsedFile],
    sources: &Sources,
    options: &Options,
) -> Judgement {
    let is_judged = |file: FileId| options.tests || !sources.file(file).is_test;
    let by_file: BTreeMap<FileId, FileSuppressions> = parsed
        .iter()
        .filter(|file| file.suppressions != FileSuppressions::default())
        .map(|file| (file.file, file.suppressions.clone()))
        .collect();
    let readable = parsed.iter().filter(|file| file.is_readable() && is_judged(file.file));
    let judged = suppression::judged(readable.map(|file| (file.file, &file.suppressions)));
    inventory.suppressions = judged.iter().map(|(_, suppression)| suppression.clone()).collect();
    let findings = options.timings.of(Stage::Rules, || rules::run(inventory, sources));

    let of_judged = findings.into_iter().filter(|finding| is_judged(finding.primary.file)).collect();
    let applied = suppression::apply(of_judged, &by_file);
    inventory.suppressions = judged
        .into_iter()
        .map(|(at, judged)| JudgedSuppression { is_used: applied.used.contains(&at), ..judged })
        .collect();
    let mut findings = applied.kept;
    findings.extend(rules::run_one("unused-suppression", inventory, sources));

    let mut policies: BTreeMap<FileId, Policy> = BTreeMap::new();
    let mut is_shown = |finding: &mut Finding| {
        let file = finding.primary.file;
        let policy =
            policies.entry(file).or_insert_with(|| options.configuration.policy(sources.absolute(file)));
        selection::apply_level(finding, policy) && options.selection.shows(finding, policy)
    };
    findings.retain_mut(&mut is_shown);
    let mut suppressed = applied.suppressed;
    suppressed.retain_mut(&mut is_shown);
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    findings.dedup();
    options.timings.of(Stage::Proof, || proof::attach(inventory, &mut findings));
    Judgement {
        findings,
        suppressed: suppressed.iter().map(|finding| finding.primary.file).collect(),
        notes: suppression_notes(&by_file, sources),
        parsed: parsed.iter().filter(|file| file.is_readable()).map(|file| file.file).collect(),
        sql: figures::of_files(parsed, sources),
    }
}

/// By place first: files are numbered in the order of their paths.
fn order(finding: &Finding) -> impl Ord + '_ {
    (
        finding.primary.file,
        finding.primary.span.start,
        finding.rule,
        finding.primary.span.end,
        &finding.message,
    )
}

/// A suppression that does nothing because of a slip must not go unseen.
fn suppression_notes(
    by_file: &BTreeMap<FileId, FileSuppressions>,
    sources: &Sources,
) -> Vec<(FileId, String)> {
    let mut notes = Vec::new();
    for (file, found) in by_file {
        for (span, reason) in &found.malformed {
            let place = sources.place(*file, span.start);
            notes.push((*file, format!("{place}: this suppression cannot be read: {reason}")));
        }
    }
    notes
}

/// What a project gives to the report of a run.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) judgement: Judgement,
    /// Findings that changes do not concern.
    hidden: usize,
    audit: Option<Audit>,
}

impl Part {
    /// What of a judgement is about the files that were asked for.
    pub(super) fn of(mut judgement: Judgement, sources: &Sources) -> Self {
        let is_reported = |file: FileId| sources.file(file).reported;
        judgement.findings.retain(|finding| is_reported(finding.primary.file));
        judgement.suppressed.retain(|file| is_reported(*file));
        judgement.notes.retain(|(file, _)| is_reported(*file));
        judgement.parsed.retain(|file| is_reported(*file));
        judgement.sql.retain(|(file, _)| is_reported(*file));
        Self { judgement, ..Self::default() }
    }

    /// Leaves what changes concern, and adds the audit, where they are asked for.
    pub(super) fn go_into(&mut self, inventory: &Inventory, sources: &Sources, options: &Options) {
        if let Some(changes) = &options.changes {
            let before = self.judgement.findings.len();
            let touched = changed::Touched::new(changes, inventory, sources);
            self.judgement.findings.retain(|finding| touched.concerns(finding));
            self.hidden = before - self.judgement.findings.len();
        }
        self.audit = options.audits.then(|| audit(inventory, &self.judgement.findings));
    }

    /// The files that its findings show.
    pub(super) fn shown(&self) -> BTreeSet<FileId> {
        self.judgement.findings.iter().flat_map(Finding::locations).map(|location| location.file).collect()
    }
}

/// The report of a run, from those on its projects.
pub(super) fn merged(parts: Vec<Part>, sources: &Sources) -> Report {
    let mut report = Report::default();
    let mut suppressed = 0;
    let (mut parsed, mut hidden) = (0, 0);
    let mut notes = Vec::new();
    // With each finding where its project had it.
    let mut findings: Vec<((usize, usize), Finding)> = Vec::new();
    let mut audits: Vec<(usize, Audit)> = Vec::new();
    let mut figures = Vec::new();
    for (number, Part { judgement, hidden: older, audit }) in parts.into_iter().enumerate() {
        let own = judgement.findings.into_iter().enumerate();
        findings.extend(own.map(|(at, finding)| ((number, at), finding)));
        suppressed += judgement.suppressed.len();
        parsed += judgement.parsed.len();
        hidden += older;
        notes.extend(judgement.notes);
        figures.extend(judgement.sql);
        audits.extend(audit.map(|audit| (number, audit)));
    }
    findings.sort_by(|(_, a), (_, b)| order(a).cmp(&order(b)));
    let positions: BTreeMap<(usize, usize), usize> =
        findings.iter().enumerate().map(|(at, (own, _))| (*own, at)).collect();
    report.findings = findings.into_iter().map(|(_, finding)| finding).collect();
    for (number, mut audit) in audits {
        audit.renumber(|own| positions.get(&(number, own)).copied());
        report.audit.get_or_insert_default().join(audit);
    }
    notes.sort_by_key(|(file, _)| *file);
    report.notes = notes.into_iter().map(|(_, note)| note).collect();
    if hidden > 0 {
        report.notes.push(format!("{hidden} older findings are not shown"));
    }
    figures.sort_by_key(|(file, _)| *file);
    report.sql = figures::summed(figures.into_iter().map(|(_, figures)| figures));
    report.summary = summarise(&report.findings, suppressed, parsed, sources);
    report
}

fn summarise(findings: &[Finding], suppressed: usize, parsed: usize, sources: &Sources) -> Summary {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let is_counted =
        |(_, file): &(FileId, &crate::sources::SourceFile)| file.reported && file.kind.is_source();
    Summary {
        files: sources.files().filter(is_counted).count(),
        parsed,
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        infos: count(Severity::Info),
        suppressed,
        baselined: 0,
    }
}
