//! The command `lsp`: a language server that checks as `check` does.

use std::sync::Arc;

use super::arguments::{LanguageServerArguments, Scope};
use super::run_options::options_for;
use super::{COULD_NOT, FAILED, baseline, stream};
use crate::check::{CheckError, FailOn, Options, Report, check};
use crate::language_server::{AnalysisError, Job, ServeError, serve};
use crate::sources::Sources;

pub(super) fn run(arguments: LanguageServerArguments) -> u8 {
    let scope = arguments.scope;
    match serve(Arc::new(move |job: &Job| analyse(&scope, job))) {
        Ok(()) => 0,
        Err(error) => {
            stream::tell("error", &error.to_string());
            // The protocol asks for this code.
            if matches!(error, ServeError::Gone) { FAILED } else { COULD_NOT }
        }
    }
}

fn analyse(scope: &Scope, job: &Job) -> Result<(Report, Sources), AnalysisError> {
    if job.paths.is_empty() {
        return Ok(Default::default());
    }
    let failed = |error: &dyn std::error::Error| AnalysisError::Failed(error.to_string());
    let found = options_for(scope, job.paths.clone(), FailOn::Never, job.working_directory.clone());
    let options = Options {
        unsaved: job.unsaved.clone(),
        kept: job.kept.clone(),
        stop: job.stop.clone(),
        ..found.map_err(|error| failed(&error))?
    };
    let (mut report, sources) = check(&options).map_err(|error| match error {
        CheckError::Stopped => AnalysisError::Stopped,
        error => failed(&error),
    })?;
    if let Some(path) = options.configuration.baseline() {
        baseline::apply(&mut report, &sources, path).map_err(|error| failed(&error))?;
    }
    Ok((report, sources))
}
