//! One run of the checker: from paths to a report.
//!
//! It puts the rooms in their order and decides nothing about locks: find and read the sources, parse in
//! parallel, build the inventory, run the rules, apply suppressions and the selection. Printing is the
//! caller's.

mod changed;
mod demand;
mod figures;
mod front_ends;
mod kept;
mod load;
mod progress;
mod selection;
mod stop;
mod survey;
mod workspace;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

pub use figures::{SqlCounts, SqlFigures};
pub use kept::KeptFacts;
pub use progress::{Progress, Step};
pub use selection::{FailOn, Selection};
pub use stop::Stop;
pub use survey::{Survey, survey};

use crate::audit::{Audit, audit};
use crate::changes::Changes;
use crate::configuration::{Configuration, Policy};
use crate::facts::FileId;
use crate::facts::file::ParsedFile;
use crate::facts::suppression::{FileSuppressions, JudgedSuppression};
use crate::finding::{Finding, Severity, Summary};
use crate::locks::Inventory;
use crate::proof;
use crate::resolve::Models;
use crate::rules;
use crate::sources::{Discovery, Packages, PathError, Request, Sources, Unsaved, discover};
use crate::suppression;

/// Deep but valid code must be parsed on any machine, and an overflow would end the process. The memory
/// is only reserved; pages that are never touched cost nothing.
const STACK_SIZE: usize = 256 * 1024 * 1024;

/// What a run is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    pub paths: Vec<PathBuf>,
    /// Paths are relative to it, and shown so.
    pub working_directory: PathBuf,
    /// Walk what `.gitignore` hides.
    pub no_ignore: bool,
    /// Report on test code as well.
    pub tests: bool,
    /// Threads; as many as there are processors when `None`.
    pub jobs: Option<NonZeroUsize>,
    pub selection: Selection,
    /// Which calls are operations on a store.
    pub models: Arc<Models>,
    /// Files with texts that an editor holds; one that does not exist on disk must be among the paths.
    pub unsaved: Vec<Unsaved>,
    /// Only what these changes concern is reported.
    pub changes: Option<Changes>,
    /// What the project says of itself.
    pub configuration: Arc<Configuration>,
    /// What earlier runs have left.
    pub kept: Arc<KeptFacts>,
    /// Ends the run without a report.
    pub stop: Stop,
    /// Told how far the run is.
    pub progress: Progress,
    /// Puts down what is known of every lock as well.
    pub audits: bool,
}

/// What a run found, in the order in which it is reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub findings: Vec<Finding>,
    pub summary: Summary,
    /// What a person should hear of beside the findings, such as a suppression that cannot be read.
    pub notes: Vec<String>,
    /// How far the SQL files were read.
    pub sql: SqlFigures,
    /// Where it was asked for.
    pub audit: Option<Audit>,
}

/// Why a run could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("cannot start threads: {0}")]
    Threads(String),
    #[error("the run was stopped")]
    Stopped,
    #[error("a defect of leaselint itself stopped the run: {0}")]
    Defect(String),
}

/// Everything that the resolver may look at.
#[derive(Debug)]
pub struct Workspace<'a> {
    pub sources: &'a Sources,
    pub packages: &'a Packages,
    /// In the order of their numbers.
    pub parsed: &'a [ParsedFile],
    /// The paths that were asked for.
    pub asked: &'a [PathBuf],
    pub models: &'a Models,
    pub configuration: &'a Configuration,
}

/// Runs the checker.
pub fn check(options: &Options) -> Result<(Report, Sources), CheckError> {
    on_a_large_stack(|| run(options))
}

/// What comes after the parsers recurses over the same trees, so it needs the same stack.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> Result<T, CheckError> + Send) -> Result<T, CheckError> {
    thread::scope(|scope| {
        thread::Builder::new()
            .name("leaselint".to_owned())
            .stack_size(STACK_SIZE)
            .spawn_scoped(scope, work)
            .map_err(|error| CheckError::Threads(error.to_string()))?
            .join()
            .unwrap_or_else(|panic| Err(CheckError::Defect(front_ends::panic_message(&*panic))))
    })
}

fn run(options: &Options) -> Result<(Report, Sources), CheckError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs.map_or(0, NonZeroUsize::get))
        .stack_size(STACK_SIZE)
        .build()
        .map_err(|error| CheckError::Threads(error.to_string()))?;
    options.progress.begin();
    let found = find(options)?;
    go_on(options)?;
    let skipped = skipped_notes(&found);
    let (mut sources, mut problems) = Sources::new(found, &options.working_directory);
    sources.set_unsaved(options.unsaved.clone());
    let load::Loaded { packages, parsed, problems: unreadable } =
        pool.install(|| load::load(&mut sources, options));
    go_on(options)?;
    options.progress.resolves();
    problems.extend(unreadable);

    let asked: Vec<PathBuf> = options.paths.iter().map(|path| options.working_directory.join(path)).collect();
    let workspace = Workspace {
        sources: &sources,
        packages: &packages,
        parsed: &parsed,
        asked: &asked,
        models: &options.models,
        configuration: &options.configuration,
    };
    let mut inventory = workspace::inventory(&workspace);
    let histories = workspace::notes(&workspace);
    go_on(options)?;
    inventory.problems.extend(problems);
    let mut report = judge(&mut inventory, &parsed, &sources, options);
    report.notes.extend(histories);
    report.notes.extend(skipped);
    Ok((report, sources))
}

fn go_on(options: &Options) -> Result<(), CheckError> {
    if options.stop.is_given() { Err(CheckError::Stopped) } else { Ok(()) }
}

fn find(options: &Options) -> Result<Discovery, PathError> {
    discover(&Request {
        paths: options.paths.clone(),
        working_directory: options.working_directory.clone(),
        no_ignore: options.no_ignore,
        unsaved: options.unsaved.iter().map(|unsaved| unsaved.path.clone()).collect(),
        excluded: options.configuration.excluded(),
        threads: options.jobs,
    })
}

/// The files that a run would report on, as they are shown.
pub fn files(options: &Options) -> Result<Vec<String>, CheckError> {
    let (sources, _) = Sources::new(find(options)?, &options.working_directory);
    let reported = sources
        .files()
        .filter(|(_, file)| file.reported && file.kind.is_source() && (options.tests || !file.is_test));
    Ok(reported.map(|(_, file)| file.path().to_owned()).collect())
}

fn skipped_notes(found: &Discovery) -> Vec<String> {
    let other = found
        .skipped
        .iter()
        .map(|path| format!("{} is skipped: not a Rust, SQL or Lua file", path.display()));
    let excluded = found
        .excluded
        .iter()
        .map(|path| format!("{} is skipped: the configuration excludes it", path.display()));
    other.chain(excluded).collect()
}

/// From the inventory to what is reported.
fn judge(inventory: &mut Inventory, parsed: &[ParsedFile], sources: &Sources, options: &Options) -> Report {
    let is_judged = |file: FileId| {
        let file = sources.file(file);
        file.reported && (options.tests || !file.is_test)
    };
    let by_file: BTreeMap<FileId, FileSuppressions> = parsed
        .iter()
        .filter(|file| file.suppressions != FileSuppressions::default())
        .map(|file| (file.file, file.suppressions.clone()))
        .collect();
    let readable = parsed.iter().filter(|file| file.is_readable() && is_judged(file.file));
    let judged = suppression::judged(readable.map(|file| (file.file, &file.suppressions)));
    inventory.suppressions = judged.iter().map(|(_, suppression)| suppression.clone()).collect();
    let findings = rules::run(inventory, sources);

    let asked_for = findings.into_iter().filter(|finding| is_judged(finding.primary.file)).collect();
    let applied = suppression::apply(asked_for, &by_file);
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
    let mut notes = suppression_notes(&by_file, sources);
    if let Some(changes) = &options.changes {
        let before = findings.len();
        let touched = changed::Touched::new(changes, inventory, sources);
        findings.retain(|finding| touched.concerns(finding));
        let hidden = before - findings.len();
        if hidden > 0 {
            notes.push(format!("{hidden} older findings are not shown"));
        }
    }
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    findings.dedup();
    proof::attach(inventory, &mut findings);
    let summary = summarise(&findings, suppressed.len(), parsed, sources);
    let audit = options.audits.then(|| audit(inventory, &findings));
    Report { summary, findings, notes, sql: figures::sql_figures(parsed, sources), audit }
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

fn summarise(findings: &[Finding], suppressed: usize, parsed: &[ParsedFile], sources: &Sources) -> Summary {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let is_counted = |file: FileId| sources.file(file).reported && sources.file(file).kind.is_source();
    Summary {
        files: sources.files().filter(|(id, _)| is_counted(*id)).count(),
        parsed: parsed.iter().filter(|file| file.is_readable() && is_counted(file.file)).count(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        infos: count(Severity::Info),
        suppressed,
        baselined: 0,
    }
}

/// A suppression that does nothing because of a slip must not go unseen.
fn suppression_notes(by_file: &BTreeMap<FileId, FileSuppressions>, sources: &Sources) -> Vec<String> {
    let mut notes = Vec::new();
    for (file, found) in by_file.iter().filter(|(file, _)| sources.file(**file).reported) {
        let place = |offset| {
            let position = sources.position(*file, offset);
            format!("{}:{}:{}", sources.path(*file), position.line, position.column)
        };
        for (span, reason) in &found.malformed {
            notes.push(format!("{}: this suppression cannot be read: {reason}", place(span.start)));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
