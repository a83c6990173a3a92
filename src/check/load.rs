//! From files to facts: reads, decides what is worth parsing, and parses it, in parallel.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::front_ends;
use crate::facts::file::{FileFacts, ParsedFile};
use crate::facts::{FileId, Span};
use crate::locks::InputProblem;
use crate::sources::{FileKind, Packages, ReadError, Sources, prefilter, read_packages, read_text};
use crate::suppression;

/// What reading a file gives.
type Text = Result<String, ReadError>;

/// What the files of a run hold.
pub(super) struct Loaded {
    pub(super) packages: Packages,
    /// In the order of their numbers.
    pub(super) parsed: Vec<ParsedFile>,
    pub(super) problems: Vec<InputProblem>,
}

/// Reads and parses the files of a run; texts that are worth keeping are kept in `sources`.
pub(super) fn load(sources: &mut Sources) -> Loaded {
    let mut problems = Vec::new();
    let first = read_all(sources, &mut problems);
    let (packages, broken) = read_packages(sources);
    problems.extend(broken);
    read_rest_of_packages(sources, &packages, &first, &mut problems);

    let texts: Vec<(FileId, FileKind, Arc<str>)> = sources
        .files()
        .filter(|(_, file)| file.kind.is_source())
        .filter_map(|(id, file)| Some((id, file.kind, sources.text(id)?)))
        .collect();
    let illegible: BTreeSet<FileId> = problems.iter().map(|problem| problem.file).collect();
    let parsed: Vec<(ParsedFile, Vec<InputProblem>)> = texts
        .into_par_iter()
        .map(|(file, kind, text)| {
            let (facts, problems) = if illegible.contains(&file) {
                (FileFacts::Unreadable, Vec::new())
            } else {
                front_ends::parse(file, kind, &text)
            };
            (ParsedFile { file, facts, suppressions: suppression::scan(kind, &text) }, problems)
        })
        .collect();
    let (parsed, found): (Vec<_>, Vec<_>) = parsed.into_iter().unzip();
    problems.extend(found.into_iter().flatten());
    Loaded { packages, parsed, problems }
}

/// The Rust files of a run, parted by whether a lock operation can stand in them.
#[derive(Default)]
struct FirstReading {
    hits: Vec<FileId>,
    /// Their texts were let go.
    passed_over: Vec<FileId>,
}

/// Reads every file once.
fn read_all(sources: &mut Sources, problems: &mut Vec<InputProblem>) -> FirstReading {
    let files: Vec<(FileId, FileKind)> = sources
        .files()
        .filter(|(_, file)| file.kind != FileKind::Folder)
        .map(|(id, file)| (id, file.kind))
        .collect();
    let read: Vec<(FileId, FileKind, Option<Text>)> = files
        .into_par_iter()
        .map(|(id, kind)| match read_text(sources.absolute(id)) {
            Ok(text) if kind == FileKind::Rust && !prefilter().is_match(&text) => (id, kind, None),
            result => (id, kind, Some(result)),
        })
        .collect();
    let mut reading = FirstReading::default();
    for (id, kind, result) in read {
        match result {
            None => reading.passed_over.push(id),
            Some(result) => {
                if kind == FileKind::Rust && result.is_ok() {
                    reading.hits.push(id);
                }
                keep(sources, id, result, problems);
            }
        }
    }
    reading
}

/// One file of a package with a hit makes all of its Rust files worth parsing: helpers, constants and
/// types stand in other files.
fn read_rest_of_packages(
    sources: &mut Sources,
    packages: &Packages,
    first: &FirstReading,
    problems: &mut Vec<InputProblem>,
) {
    let hit: BTreeSet<Option<usize>> = first.hits.iter().map(|id| packages.of(*id)).collect();
    let wanted = first.passed_over.iter().copied().filter(|id| hit.contains(&packages.of(*id)));
    let read: Vec<(FileId, Text)> =
        wanted.collect::<Vec<_>>().into_par_iter().map(|id| (id, read_text(sources.absolute(id)))).collect();
    for (id, result) in read {
        keep(sources, id, result, problems);
    }
}

fn keep(sources: &mut Sources, file: FileId, result: Text, problems: &mut Vec<InputProblem>) {
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
