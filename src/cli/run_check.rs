//! The command `check`: from flags to a run, from a report to streams, files and an exit code.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use std::{env, fs, io};

use super::arguments::{CheckArguments, Color, FailOn, Format};
use super::render::render;
use super::{COULD_NOT, FAILED, report_file, stream};
use crate::check::{self, CheckError, Options, Report, Selection, check};
use crate::configuration::{Configuration, ConfigurationError};
use crate::resolve::Models;
use crate::rules::UnknownRule;
use crate::sources::Sources;

/// Why the command could not do its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    #[error(transparent)]
    UnknownRule(#[from] UnknownRule),
    #[error("the working directory cannot be told: {0}")]
    WorkingDirectory(io::Error),
    #[error("cannot write {}: {source}", path.display())]
    Output { path: PathBuf, source: io::Error },
    #[error("two reports cannot be written to one file: {}", .0.display())]
    SameOutput(PathBuf),
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
}

pub(super) fn run(arguments: &CheckArguments) -> u8 {
    match try_run(arguments) {
        Ok(code) => code,
        Err(failure) => {
            stream::tell("error", &failure.to_string());
            COULD_NOT
        }
    }
}

fn try_run(arguments: &CheckArguments) -> Result<u8, Failure> {
    let mut outputs = BTreeSet::new();
    if let Some(twice) = arguments.output.iter().find(|output| !outputs.insert(&output.path)) {
        return Err(Failure::SameOutput(twice.path.clone()));
    }
    let options = options(arguments)?;
    if arguments.show_config {
        return print_text(&options.configuration.shown());
    }
    if arguments.show_files {
        let lines: Vec<String> = check::files(&options)?.into_iter().map(|path| path + "\n").collect();
        return print_text(&lines.concat());
    }
    let start = Instant::now();
    let (report, sources) = check(&options)?;
    if arguments.verbose {
        let read = sources.files().count();
        let summary = report.summary;
        let took = start.elapsed().as_millis();
        let message =
            format!("{read} files found, {} of {} parsed, {took} ms", summary.parsed, summary.files);
        stream::tell("note", &message);
    }
    if !arguments.quiet {
        tell_notes(&report);
    }
    for output in &arguments.output {
        render(output.format, &report, &sources, false)
            .and_then(|text| report_file::write(&output.path, &text))
            .map_err(|source| Failure::Output { path: output.path.clone(), source })?;
    }
    print(arguments, &report, &sources)?;
    let fails = options.selection.fails(&report.findings) && !arguments.exit_zero;
    Ok(if fails { FAILED } else { 0 })
}

fn options(arguments: &CheckArguments) -> Result<Options, Failure> {
    let here = PathBuf::from(".");
    let paths = if arguments.paths.is_empty() { vec![here.clone()] } else { arguments.paths.clone() };
    let fail_on = match arguments.fail_on {
        FailOn::Error => check::FailOn::Error,
        FailOn::Warning => check::FailOn::Warning,
        FailOn::Info => check::FailOn::Info,
        FailOn::Never => check::FailOn::Never,
    };
    let working_directory = fs::canonicalize(here).map_err(Failure::WorkingDirectory)?;
    let configuration = match &arguments.config {
        Some(path) => Configuration::read(path, &working_directory)?,
        None => Configuration::discover(&paths, &working_directory)?,
    };
    Ok(Options {
        paths,
        working_directory,
        no_ignore: arguments.no_ignore,
        tests: arguments.tests,
        jobs: arguments.jobs,
        selection: Selection::new(&arguments.select, &arguments.ignore, arguments.pedantic, fail_on)?,
        models: Models::with(configuration.clients.clone(), configuration.signal_crates.clone()),
        configuration: Arc::new(configuration),
    })
}

fn print_text(text: &str) -> Result<u8, Failure> {
    stream::print(text.as_bytes()).map_err(Failure::Stdout)?;
    Ok(0)
}

fn tell_notes(report: &Report) {
    for note in &report.notes {
        stream::tell("note", note);
    }
    if report.summary.files == 0 {
        stream::tell("note", "no Rust, SQL or Lua files found");
    }
}

fn print(arguments: &CheckArguments, report: &Report, sources: &Sources) -> Result<(), Failure> {
    let nothing_to_say = report.findings.is_empty() && (arguments.quiet || report.summary.files == 0);
    if arguments.format == Format::Human && nothing_to_say {
        return Ok(());
    }
    let colored = match arguments.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    };
    let text = render(arguments.format, report, sources, colored).map_err(Failure::Stdout)?;
    stream::print(&text).map_err(Failure::Stdout)
}
