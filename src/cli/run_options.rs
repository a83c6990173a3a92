//! From flags and the configuration that is found to what a run is asked to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::arguments::{CacheArguments, Scope};
use crate::cache::{self, Cache};
use crate::check::{FailOn, Options, Progress, Selection, Stop, Timings};
use crate::configuration::{Configuration, ConfigurationError};
use crate::resolve::Models;
use crate::rules::UnknownRule;
use crate::sources::tree_of;

/// Why it cannot be told what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum OptionsError {
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    #[error(transparent)]
    UnknownRule(#[from] UnknownRule),
    #[error("the working directory cannot be told: {0}")]
    WorkingDirectory(io::Error),
}

pub(super) fn working_directory() -> Result<PathBuf, OptionsError> {
    fs::canonicalize(".").map_err(OptionsError::WorkingDirectory)
}

/// The paths that were given, or the one that stands for them.
pub(super) fn asked_for(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() { vec![Path::new(".").to_owned()] } else { paths.to_vec() }
}

/// Where things are kept; `None` when nothing is to be, or no place is known.
fn cache_folder(arguments: &CacheArguments) -> Option<PathBuf> {
    if arguments.no_cache { None } else { arguments.cache_dir.clone().or_else(cache::default_folder) }
}

/// What a run over these paths is asked to do, in this folder.
pub(super) fn options_for(
    scope: &Scope,
    paths: Vec<PathBuf>,
    fail_on: FailOn,
    working_directory: PathBuf,
) -> Result<Options, OptionsError> {
    let configuration = match &scope.config {
        Some(path) => Configuration::read(path, &working_directory)?,
        None => Configuration::discover(&paths, &working_directory)?,
    };
    let cache = cache_folder(&scope.cache).map(|folder| {
        let first =
            paths.first().map_or_else(|| working_directory.clone(), |path| working_directory.join(path));
        Cache::open(folder, &tree_of(&first))
    });
    Ok(Options {
        paths,
        working_directory,
        no_ignore: scope.no_ignore,
        tests: scope.tests,
        jobs: scope.jobs,
        selection: Selection::new(&scope.select, &scope.ignore, scope.pedantic, fail_on)?,
        models: Models::with(configuration.clients.clone(), configuration.signal_crates.clone()),
        unsaved: Vec::new(),
        changes: None,
        configuration: Arc::new(configuration),
        kept: Arc::default(),
        cache: cache.map(Arc::new),
        stop: Stop::default(),
        progress: Progress::default(),
        timings: Timings::default(),
        audits: false,
    })
}
