//! One run of the checker: from paths to a report.
//!
//! It puts the rooms in their order and decides nothing about locks: find and read the sources, parse in
//! parallel, build the inventory, run the rules, apply suppressions and the selection. Printing is the
//! caller's.

mod changed;
mod demand;
mod figures;
mod front_ends;
mod judgement;
mod kept;
mod kept_projects;
mod load;
mod progress;
mod projects;
mod selection;
mod stop;
mod survey;
mod timings;
mod workspace;

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rayon::prelude::*;

pub use figures::{SqlCounts, SqlFigures};
use judgement::{Judgement, Part, judge, merged};
pub use kept::KeptFacts;
use kept_projects::{KeptProjects, Texts};
use load::{Loaded, load};
pub use progress::{Progress, Step};
use projects::{Project, projects};
pub use selection::{FailOn, Selection};
pub use stop::Stop;
pub use survey::{Survey, survey};
pub use timings::{Stage, Timings};

use crate::audit::Audit;
use crate::cache::Cache;
use crate::changes::Changes;
use crate::configuration::Configuration;
use crate::facts::file::ParsedFile;
use crate::facts::{FileId, InputProblem};
use crate::finding::{Finding, Summary};
use crate::resolve::Models;
use crate::sources::{
    Discovery, Packages, PathError, Request, Sources, Unsaved, Words, discover, read_packages,
};

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
    /// What earlier runs of this process have left.
    pub kept: Arc<KeptFacts>,
    /// What earlier runs have left on disk.
    pub cache: Option<Arc<Cache>>,
    /// Ends the run without a report.
    pub stop: Stop,
    /// Told how far the run is.
    pub progress: Progress,
    /// Told how long things take.
    pub timings: Timings,
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
    let found = options.timings.of(Stage::Walk, || find(options))?;
    go_on(options)?;
    let skipped = skipped_notes(&found);
    let (mut sources, mut problems) = Sources::new(found, &options.working_directory);
    sources.set_unsaved(options.unsaved.clone());
    options.progress.found(sources.files().count());
    let parts = pool.install(|| {
        problems.extend(load::read_manifests(&sources));
        let (packages, broken) = read_packages(&sources);
        problems.extend(broken);
        judge_all(&sources, &packages, &problems, options)
    })?;
    options.cache.iter().for_each(|cache| options.timings.of(Stage::Cache, || cache.save()));
    options.kept.keep_only(&sources.files().map(|(_, file)| file.absolute()).collect());
    let mut report = merged(parts, &sources);
    report.notes.extend(skipped);
    Ok((report, sources))
}

/// Judges project by project. One that has more than a thread's share of the files is taken by all threads together;
/// of the others each thread takes one.
fn judge_all(
    sources: &Sources,
    packages: &Packages,
    problems: &[InputProblem],
    options: &Options,
) -> Result<Vec<Part>, CheckError> {
    let run = Run {
        sources,
        problems,
        options,
        words: Words::with(options.models.own_words()),
        kept: KeptProjects::of(options),
        asked: options.paths.iter().map(|path| options.working_directory.join(path)).collect(),
    };
    let share = sources.files().count() / rayon::current_num_threads();
    let (mut large, mut small): (Vec<Project>, Vec<Project>) =
        projects(sources, packages).into_iter().partition(|project| project.files.len() > share);
    large.iter_mut().for_each(|project| project.is_shared = true);
    // The longest first, so that no thread is left with it at the end.
    small.sort_by_key(|project| Reverse(project.files.len()));
    let mut parts: Vec<(FileId, Part)> = Vec::new();
    for project in &large {
        parts.extend(run.part(project)?);
    }
    let of_small = small.par_iter().with_max_len(1).map(|project| run.part(project));
    parts.extend(of_small.collect::<Result<Vec<_>, CheckError>>()?.into_iter().flatten());
    parts.sort_by_key(|(first, _)| *first);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// What is the same for all projects.
struct Run<'a> {
    sources: &'a Sources,
    problems: &'a [InputProblem],
    options: &'a Options,
    words: Words,
    kept: Option<KeptProjects>,
    /// The paths that were asked for.
    asked: Vec<PathBuf>,
}

impl Run<'_> {
    /// What a project gives to the report, with its first file.
    fn part(&self, project: &Project) -> Result<Option<(FileId, Part)>, CheckError> {
        let Self { sources, options, .. } = self;
        let Some(first) = project.files.first() else { return Ok(None) };
        let start = Instant::now();
        let part = self.judged(project)?;
        if !options.audits {
            forget_texts(project, &part, sources);
        }
        options.timings.project(start.elapsed(), project.name(sources));
        Ok(Some((*first, part)))
    }

    /// As it was judged before, or as it is judged now.
    fn judged(&self, project: &Project) -> Result<Part, CheckError> {
        let Self { sources, options, kept, .. } = self;
        let Some(kept) = kept else { return Ok(self.judge(project, Texts::new())?.0) };
        go_on(options)?;
        let timings = &options.timings;
        let mut seen = timings.of(Stage::Cache, || kept.seen(self, project));
        if let Some(judgement) = timings.of(Stage::Cache, || kept.judgement(seen.fingerprint, project)) {
            let part = Part::of(judgement, sources);
            part.shown().into_iter().for_each(|file| load::keep_shown(sources, file));
            return Ok(part);
        }
        let (part, judgement) = self.judge(project, std::mem::take(&mut seen.texts))?;
        timings.of(Stage::Cache, || kept.keep(&seen, project, &judgement, sources));
        Ok(part)
    }

    fn judge(&self, project: &Project, texts: Texts) -> Result<(Part, Judgement), CheckError> {
        let Self { sources, options, .. } = self;
        go_on(options)?;
        let Loaded { parsed, problems: unreadable } = load(sources, project, texts, &self.words, options);
        go_on(options)?;
        options.progress.resolves();
        let workspace = Workspace {
            sources,
            packages: &project.packages,
            parsed: &parsed,
            asked: &self.asked,
            models: &options.models,
            configuration: &options.configuration,
        };
        let mut inventory = options.timings.of(Stage::Resolve, || workspace::inventory(&workspace));
        go_on(options)?;
        inventory.problems.extend(self.problems_of(project).cloned().chain(unreadable));
        let mut judgement = judge(&mut inventory, &parsed, sources, options);
        judgement.notes.extend(workspace::notes(&workspace));
        let mut part = Part::of(judgement.clone(), sources);
        part.go_into(&inventory, sources, options);
        Ok((part, judgement))
    }

    /// What could not be read before the project was looked at.
    fn problems_of(&self, project: &Project) -> impl Iterator<Item = &InputProblem> {
        self.problems.iter().filter(|problem| project.files.binary_search(&problem.file).is_ok())
    }
}

/// The report shows the places of findings, and nothing else of the texts.
fn forget_texts(project: &Project, part: &Part, sources: &Sources) {
    let shown = part.shown();
    let others = project.files.iter().filter(|file| !shown.contains(file));
    others.for_each(|file| sources.forget_text(*file));
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

#[cfg(test)]
mod tests;
