//! From flags and the configuration that is found to what a run is asked to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::arguments::Scope;
use crate::check::{FailOn, Options, Progress, Selection, Stop};
use crate::configuration::{Configuration, ConfigurationError};
use crate::resolve::Models;
use crate::rules::UnknownRule;

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
        stop: Stop::default(),
        progress: Progress::default(),
        audits: false,
    })
}
