//! A look over a whole project before anything is configured: every file is parsed, and nothing is judged.

use std::num::NonZeroUsize;

use rayon::prelude::*;

use super::{CheckError, Options, find, front_ends, on_a_large_stack, workspace};
use crate::facts::FileId;
use crate::facts::file::{FileFacts, ParsedFile};
use crate::facts::sql::Dialect;
use crate::facts::suppression::FileSuppressions;
use crate::sources::{FileKind, Packages, Sources, read_packages, without_test_modules};

/// What a project is made of.
#[derive(Debug, Default)]
pub struct Survey {
    pub sources: Sources,
    pub packages: Packages,
    /// The one database of each package, where its manifest shows it.
    pub dialects: Vec<Option<Dialect>>,
    /// Without test code, in the order of their numbers.
    pub parsed: Vec<ParsedFile>,
}

/// Reads everything. What cannot be read is left out: a check tells of it.
pub fn survey(options: &Options) -> Result<Survey, CheckError> {
    on_a_large_stack(|| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.jobs.map_or(0, NonZeroUsize::get))
            .stack_size(super::STACK_SIZE)
            .build()
            .map_err(|error| CheckError::Threads(error.to_string()))?;
        options.progress.begin();
        let (sources, _) = Sources::new(find(options)?, &options.working_directory);
        pool.install(|| read_all(&sources, options));
        let (packages, _) = read_packages(&sources);
        let dialects = workspace::dialects(&packages);
        let parsed = pool.install(|| parse_all(&sources, options));
        Ok(Survey { sources, packages, dialects, parsed })
    })
}

fn read_all(sources: &Sources, options: &Options) {
    let files: Vec<FileId> = sources
        .files()
        .filter(|(_, file)| file.kind != FileKind::Folder && !file.is_test)
        .map(|(id, _)| id)
        .collect();
    options.progress.found(files.len());
    let texts: Vec<(FileId, String)> = files
        .into_par_iter()
        .inspect(|_| options.progress.read_one())
        .filter_map(|id| Some((id, sources.read(id).ok()?)))
        .collect();
    for (file, text) in texts {
        sources.keep_text(file, text.into());
    }
}

fn parse_all(sources: &Sources, options: &Options) -> Vec<ParsedFile> {
    let files: Vec<(FileId, FileKind)> = sources
        .files()
        .filter(|(id, file)| file.kind.is_source() && sources.text(*id).is_some())
        .map(|(id, file)| (id, file.kind))
        .collect();
    options.progress.wants(files.len());
    let parse = |(file, kind): (FileId, FileKind)| {
        let text = sources.text(file)?;
        let (facts, _) = match kind {
            FileKind::Rust => front_ends::parse(file, kind, None, &without_test_modules(&text)),
            _ => front_ends::parse(file, kind, None, &text),
        };
        options.progress.parsed_one();
        let is_read = facts != FileFacts::Unreadable;
        is_read.then(|| ParsedFile { file, facts: facts.into(), suppressions: FileSuppressions::default() })
    };
    files.into_par_iter().filter_map(parse).collect()
}
