//! From files to facts: reads, decides what is worth parsing, and parses it, in parallel.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::demand::{Demand, Hit, Search};
use super::kept::{How, KeptFacts, Read};
use super::kept_projects::Texts;
use super::projects::Project;
use super::{Options, Progress, Stage, Stop, Timings, front_ends};
use crate::cache::{Cache, Mixer};
use crate::configuration::Configuration;
use crate::facts::file::{FileFacts, ParsedFile};
use crate::facts::sql::Dialect;
use crate::facts::{FileId, InputProblem, Span};
use crate::sources::{FileKind, Interest, Packages, ReadError, Sources, Words, without_test_modules};
use crate::sql::migration::dialect_of_path;
use crate::suppression;

/// What reading a file gives.
type Text = Result<String, ReadError>;

/// How files are read.
#[derive(Clone, Copy)]
struct Settings<'a> {
    tests: bool,
    configuration: &'a Configuration,
    packages: &'a Packages,
    /// The one database of each package, where its manifest shows it.
    dialects: &'a [Option<Dialect>],
    kept: &'a KeptFacts,
    stop: &'a Stop,
    progress: &'a Progress,
    timings: &'a Timings,
    cache: Option<&'a Cache>,
    /// How many files a thread takes at least.
    least: usize,
}

impl Settings<'_> {
    /// What is known of a file's dialect beside its text.
    fn dialect(self, sources: &Sources, file: FileId) -> Option<Dialect> {
        let package = || self.dialects.get(self.packages.of(file)?).copied().flatten();
        let configured = self.configuration.dialect(sources.absolute(file));
        configured.or_else(|| dialect_of_path(sources.path(file))).or_else(package)
    }
}

/// How many times the files parsed so far may ask for others.
const ROUNDS: usize = 3;

/// What the files of a project hold.
pub(super) struct Loaded {
    /// In the order of their numbers.
    pub(super) parsed: Vec<ParsedFile>,
    pub(super) problems: Vec<InputProblem>,
}

/// Reads the manifests of a run.
pub(super) fn read_manifests(sources: &Sources) -> Vec<InputProblem> {
    let manifests: Vec<FileId> =
        sources.files().filter(|(_, file)| file.kind == FileKind::Manifest).map(|(id, _)| id).collect();
    let mut problems = Vec::new();
    let texts: Vec<(FileId, Text)> = manifests.into_par_iter().map(|id| (id, sources.read(id))).collect();
    texts.into_iter().for_each(|(id, text)| keep(sources, id, text, &mut problems));
    problems
}

/// Reads and parses the files of a project; texts that are worth keeping are kept in `sources`. Rust code of
/// tests, benches and examples is left alone unless `tests` asks for it.
pub(super) fn load(
    sources: &Sources,
    project: &Project,
    texts: Texts,
    words: &Words,
    options: &Options,
) -> Loaded {
    let Options { models, configuration, kept, stop, progress, timings, tests, .. } = options;
    let packages = &project.packages;
    let mut problems = Vec::new();
    let reading = read_all(sources, project, texts, options, words, &mut problems);
    let dialects = super::workspace::dialects(packages);
    let (tests, dialects) = (*tests, &dialects[..]);
    let settings = Settings {
        tests,
        configuration,
        packages,
        dialects,
        kept,
        stop,
        progress,
        timings,
        cache: options.cache.as_deref(),
        least: project.least(),
    };
    let mut parsed = parse_all(sources, &reading.wanted, settings, &mut problems);
    let mut demand = Demand::default();
    let dependencies = super::workspace::dependencies(packages);
    let mut rest = reading.passed_over;
    let mut fresh = parsed.len();
    for _ in 0..ROUNDS {
        let from = parsed.len() - fresh;
        let files = parsed[from..].iter();
        let files = files.map(|file| (packages.of(file.file), reading.interests.get(&file.file), file));
        let wanted = timings.of(Stage::Demand, || {
            demand.add(models, files);
            read_demanded(sources, project, &demand.searches(&dependencies), &mut rest, &mut problems)
        });
        if wanted.is_empty() {
            break;
        }
        let more = parse_all(sources, &wanted, settings, &mut problems);
        fresh = more.len();
        parsed.extend(more);
    }
    parsed.sort_by_key(|file| file.file);
    Loaded { parsed, problems }
}

/// What the first look at every file found.
#[derive(Default)]
struct Reading {
    /// Files to be parsed in any case.
    wanted: Vec<FileId>,
    interests: BTreeMap<FileId, Interest>,
    /// Rust files that hold no operation; their texts were let go.
    passed_over: Vec<FileId>,
}

/// Reads every file but the manifests.
fn read_all(
    sources: &Sources,
    project: &Project,
    mut texts: Texts,
    options: &Options,
    words: &Words,
    problems: &mut Vec<InputProblem>,
) -> Reading {
    let tests = options.tests;
    let files: Vec<(FileId, FileKind, Option<Text>)> = project
        .files
        .iter()
        .map(|id| (*id, sources.file(*id)))
        .filter(|(_, file)| file.kind.is_source())
        .filter(|(_, file)| tests || !file.is_test || file.kind != FileKind::Rust)
        .map(|(id, file)| (id, file.kind, texts.remove(&id)))
        .collect();
    let text = |id, held: Option<Text>| held.unwrap_or_else(|| sources.read(id));
    let interest = |text: &str| options.timings.of(Stage::Prefilter, || interest_in(text, tests, words));
    let read: Vec<(FileId, Option<Interest>, Option<Text>)> = files
        .into_par_iter()
        .with_min_len(project.least())
        .take_any_while(|_| !options.stop.is_given())
        .inspect(|_| options.progress.read_one())
        .map(|(id, kind, held)| match options.timings.of(Stage::Read, || text(id, held)) {
            Ok(text) if kind == FileKind::Rust => match interest(&text) {
                None => (id, None, None),
                found => (id, found, Some(Ok(text))),
            },
            result => (id, None, Some(result)),
        })
        .collect();
    let locks_anywhere = read.iter().any(|(_, interest, _)| *interest == Some(Interest::Lock));
    let mut reading = Reading::default();
    for (id, interest, result) in read {
        let Some(result) = result.filter(|_| interest != Some(Interest::Signal) || locks_anywhere) else {
            reading.passed_over.push(id);
            continue;
        };
        reading.interests.extend(interest.map(|interest| (id, interest)));
        reading.wanted.push(id);
        keep(sources, id, result, problems);
    }
    reading
}

/// What a Rust file is worth, its test modules left out unless `tests` asks for them.
fn interest_in(text: &str, tests: bool, words: &Words) -> Option<Interest> {
    let found = words.interest(text)?;
    if tests { Some(found) } else { words.interest(&without_test_modules(text)) }
}

/// The files among `rest` that define or use what the parsed files ask for, taken out of it.
fn read_demanded(
    sources: &Sources,
    project: &Project,
    searches: &BTreeMap<Option<usize>, Search>,
    rest: &mut Vec<FileId>,
    problems: &mut Vec<InputProblem>,
) -> Vec<FileId> {
    let packages = &project.packages;
    let looked_at: Vec<(FileId, bool, BTreeSet<Hit>)> = std::mem::take(rest)
        .into_par_iter()
        .with_min_len(project.least())
        .map(|id| {
            let names = searches.get(&packages.of(id)).and_then(|search| {
                let text = sources.read(id).ok()?;
                Some((search.opens(sources.path(id), &text), search.hits_in(&text)))
            });
            let (opened, names) = names.unwrap_or_default();
            (id, opened, names)
        })
        .collect();
    let mut files_of_name: BTreeMap<(Option<usize>, Hit), usize> = BTreeMap::new();
    for (id, _, names) in &looked_at {
        for name in names {
            *files_of_name.entry((packages.of(*id), *name)).or_default() += 1;
        }
    }
    let mut wanted = Vec::new();
    for (id, opened, names) in looked_at {
        let package = packages.of(id);
        let tells = |hit: &Hit| hit.tells(files_of_name[&(package, *hit)]);
        if opened || names.iter().any(tells) {
            wanted.push(id);
            keep(sources, id, sources.read(id), problems);
        } else {
            rest.push(id);
        }
    }
    wanted
}

fn parse_all(
    sources: &Sources,
    wanted: &[FileId],
    settings: Settings<'_>,
    problems: &mut Vec<InputProblem>,
) -> Vec<ParsedFile> {
    let illegible: Vec<FileId> = problems.iter().map(|problem| problem.file).collect();
    let texts: Vec<(FileId, FileKind, Arc<str>)> =
        wanted.iter().filter_map(|&id| Some((id, sources.file(id).kind, sources.text(id)?))).collect();
    settings.progress.wants(texts.len());
    let parsed: Vec<(ParsedFile, Vec<InputProblem>)> = texts
        .into_par_iter()
        .with_min_len(settings.least)
        .take_any_while(|_| !settings.stop.is_given())
        .map(|(file, kind, text)| {
            let dialect = settings.dialect(sources, file);
            let how = How { dialect, skips_tests: kind == FileKind::Rust && !settings.tests };
            let is_legible = !illegible.contains(&file);
            let timings = settings.timings;
            let parse = || timings.of(Stage::Parse, || parse(file, kind, &text, how, is_legible));
            let make = || match settings.cache.filter(|_| is_legible) {
                Some(cache) => from_disk(cache, kind, &text, how, timings, parse),
                None => parse(),
            };
            let Read { facts, suppressions, mut problems } = if is_legible {
                settings.kept.read(sources.absolute(file), &text, how, make)
            } else {
                make()
            };
            // Files have other numbers in each run.
            problems.iter_mut().for_each(|problem| problem.file = file);
            settings.progress.parsed_one();
            (ParsedFile { file, facts, suppressions }, problems)
        })
        .collect();
    let (parsed, found): (Vec<_>, Vec<_>) = parsed.into_iter().unzip();
    problems.extend(found.into_iter().flatten());
    parsed
}

/// What an earlier run has made of this text, or what is made of it now.
fn from_disk(
    cache: &Cache,
    kind: FileKind,
    text: &str,
    how: How,
    timings: &Timings,
    parse: impl FnOnce() -> Read,
) -> Read {
    let of = Mixer::new().add(format!("{kind:?} {how:?}").as_bytes()).add(text.as_bytes()).done();
    if let Some(read) = timings.of(Stage::Cache, || cache.facts(of)) {
        return read;
    }
    let read = parse();
    timings.of(Stage::Cache, || cache.keep_facts(of, &read));
    read
}

fn parse(file: FileId, kind: FileKind, text: &str, how: How, is_legible: bool) -> Read {
    let code = if how.skips_tests { without_test_modules(text) } else { Cow::Borrowed(text) };
    // Nothing is reported of what is left out, so that nothing can be suppressed there.
    let suppressions = suppression::scan(kind, &code);
    let (facts, problems) = if is_legible {
        front_ends::parse(file, kind, how.dialect, &code)
    } else {
        (FileFacts::Unreadable, Vec::new())
    };
    Read { facts: Arc::new(facts), suppressions, problems }
}

/// Keeps the text of a file that a judgement of before shows.
pub(super) fn keep_shown(sources: &Sources, file: FileId) {
    if sources.text(file).is_none() {
        keep(sources, file, sources.read(file), &mut Vec::new());
    }
}

fn keep(sources: &Sources, file: FileId, result: Text, problems: &mut Vec<InputProblem>) {
    match result {
        Ok(text) => sources.keep_text(file, text.into()),
        Err(error) => {
            let at = u32::try_from(error.offset()).unwrap_or(u32::MAX);
            let (message, help) = (error.to_string(), error.help());
            let length = u32::from(matches!(error, ReadError::NotUtf8 { .. }));
            problems.push(InputProblem { file, span: Span::new(at, at + length), message, help });
            if let ReadError::NotUtf8 { legible, .. } = error {
                sources.keep_text(file, legible.into());
            }
        }
    }
}
