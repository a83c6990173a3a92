//! The command `check`: from flags to a run, from a report to streams, files and an exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use super::arguments::{self, BaselineArguments, CheckArguments, FailOn, Format};
use super::baseline::{self, BaselineError};
use super::fix::{FixError, Outcome, fix_all};
use super::progress;
use super::render::render;
use super::run_options::{OptionsError, asked_for, options_for, working_directory};
use super::{COULD_NOT, FAILED, report_file, stream, terminal};
use crate::changes::{Changes, ChangesError};
use crate::check::{self, CheckError, Options, Report, Stage, Timings, check};
use crate::facts::reading::Reading;
use crate::report::human::{self, Look};
use crate::sources::{PathError, ReadError, Sources, Unsaved, read_unsaved};

/// Why the command could not do its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error("cannot write {}: {source}", path.display())]
    Output { path: PathBuf, source: io::Error },
    #[error("two reports cannot be written to one file: {}", .0.display())]
    SameOutput(PathBuf),
    #[error("cannot read stdin: {0}")]
    Stdin(ReadError),
    #[error("--stdin-filename names a file, and {} is a folder", .0.display())]
    StdinFolder(PathBuf),
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    #[error(transparent)]
    Changes(#[from] ChangesError),
    #[error(transparent)]
    Fix(#[from] FixError),
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
    if let Some(twice) = arguments.output.iter().find(|output| !outputs.insert(the_file(&output.path))) {
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
    let configured = configured_baseline(&options).filter(|_| !arguments.no_baseline);
    let known = arguments.baseline.as_deref().or(configured);
    let apply_baseline = |report: &mut Report, sources: &Sources| -> Result<(), Failure> {
        if let Some(path) = known {
            let notes = baseline::apply(report, sources, path)?;
            report.notes.extend(notes);
        }
        Ok(())
    };
    let (report, sources) = match arguments.fixes.wanted() {
        Some(least) => {
            let fix = || fix_all(&options, least, apply_baseline);
            let outcome: Outcome = progress::shown(!arguments.quiet, &options.progress, fix)?;
            if arguments.fixes.diff {
                let fails = outcome.count > 0 && !arguments.exit_zero;
                print_text(&outcome.difference())?;
                return Ok(if fails { FAILED } else { 0 });
            }
            outcome.write(arguments.fixes.allow_dirty)?;
            if outcome.count > 0 && !arguments.quiet {
                let what = if outcome.count == 1 { "finding" } else { "findings" };
                stream::tell("note", &format!("fixed {} {what}", outcome.count));
            }
            (outcome.report, outcome.sources)
        }
        None => {
            let run = || check(&options);
            let (mut report, sources) = progress::shown(!arguments.quiet, &options.progress, run)?;
            apply_baseline(&mut report, &sources)?;
            (report, sources)
        }
    };
    if arguments.verbose {
        tell_figures(&report, &sources, start);
    }
    if !arguments.quiet {
        tell_notes(&report);
    }
    for output in &arguments.output {
        render(output.format, &report, &sources, Look::default(), runs(arguments))
            .and_then(|text| report_file::write(&output.path, &text))
            .map_err(|source| Failure::Output { path: output.path.clone(), source })?;
    }
    let timings = &options.timings;
    timings.of(Stage::Report, || print(arguments, &report, &sources))?;
    if arguments.timings {
        tell_timings(timings, start);
    }
    let fails = options.selection.fails(&report.findings) && !arguments.exit_zero;
    Ok(if fails { FAILED } else { 0 })
}

/// The command `baseline`.
pub(super) fn write_baseline(arguments: &BaselineArguments) -> u8 {
    let write = || -> Result<(), Failure> {
        let folder = working_directory()?;
        let paths = asked_for(&arguments.paths);
        let options = options_for(&arguments.scope, paths, check::FailOn::Warning, folder)?;
        let (report, sources) = progress::shown(true, &options.progress, || check(&options))?;
        let named = arguments.baseline.as_deref();
        let configured = configured_baseline(&options);
        let path = named.or(configured).unwrap_or(Path::new(baseline::FILE_NAME));
        let count = baseline::write(&report.findings, &sources, path)?;
        tell_notes(&report);
        let hint = match configured {
            Some(_) => String::new(),
            None => format!("; `baseline = \"{}\"` in leaselint.toml makes checks read it", path.display()),
        };
        stream::tell("note", &format!("wrote {count} findings to {}{hint}", path.display()));
        Ok(())
    };
    match write() {
        Ok(()) => 0,
        Err(failure) => {
            stream::tell("error", &failure.to_string());
            COULD_NOT
        }
    }
}

/// A file by the one path that it has, however it is written; it need not exist yet.
fn the_file(path: &Path) -> PathBuf {
    let beside = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// From the working directory, as messages should name it.
fn configured_baseline(options: &Options) -> Option<&Path> {
    let path = options.configuration.baseline()?;
    Some(path.strip_prefix(&options.working_directory).unwrap_or(path))
}

fn options(arguments: &CheckArguments) -> Result<Options, Failure> {
    let fail_on = match arguments.fail_on {
        FailOn::Error => check::FailOn::Error,
        FailOn::Warning => check::FailOn::Warning,
        FailOn::Info => check::FailOn::Info,
        FailOn::Never => check::FailOn::Never,
    };
    let unsaved = arguments.stdin_filename.as_deref().map(unsaved).transpose()?;
    let paths = match &unsaved {
        Some(unsaved) => vec![unsaved.path.clone()],
        None => asked_for(&arguments.paths),
    };
    let working_directory = working_directory()?;
    let options = options_for(&arguments.scope, paths, fail_on, working_directory.clone())?;
    let since = |revision: &String| Changes::since(revision, &working_directory);
    Ok(Options {
        unsaved: unsaved.into_iter().collect(),
        changes: arguments.new_since.as_ref().map(since).transpose()?,
        ..options
    })
}

/// The text on stdin, as that of a file which need not exist.
fn unsaved(path: &Path) -> Result<Unsaved, Failure> {
    let missing = || Failure::Check(CheckError::Path(PathError::Missing(path.to_owned())));
    let absolute = match fs::canonicalize(path) {
        Ok(absolute) => absolute,
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(|_| missing())?;
            folder.join(path.file_name().ok_or_else(missing)?)
        }
    };
    if absolute.is_dir() {
        return Err(Failure::StdinFolder(path.to_owned()));
    }
    let text = read_unsaved(&mut io::stdin().lock()).map_err(Failure::Stdin)?;
    Ok(Unsaved { path: absolute, text: text.into() })
}

fn tell_figures(report: &Report, sources: &Sources, start: Instant) {
    let (read, summary) = (sources.files().count(), report.summary);
    let took = start.elapsed().as_millis();
    let message = format!("{read} files found, {} of {} parsed, {took} ms", summary.parsed, summary.files);
    stream::tell("note", &message);
    for (dialect, counts) in &report.sql.by_dialect {
        let (all, check::SqlCounts { parsed, sorted, unread }) = (counts.statements(), *counts);
        let name = dialect.name();
        let message = format!(
            "{name}: {all} statements in SQL files, {parsed} parsed, {sorted} sorted by their words, {unread} unread"
        );
        stream::tell("note", &message);
    }
    for (place, reading) in &report.sql.doubtful {
        let how = match reading {
            Reading::Unread => "this statement could not be read",
            _ => "this statement could not be parsed and was read by its words",
        };
        stream::tell("note", &format!("{place}: {how}"));
    }
}

/// The slowest projects, where there are several.
const SLOWEST: usize = 5;

fn tell_timings(timings: &Timings, start: Instant) {
    let milliseconds = |took: Duration| took.as_secs_f64() * 1e3;
    stream::tell("note", &format!("{:.1} ms in all", milliseconds(start.elapsed())));
    for stage in Stage::ALL {
        let took = milliseconds(timings.taken(stage));
        stream::tell("note", &format!("{:<10}{took:>10.1} ms, all threads together", stage.name()));
    }
    let slowest = timings.slowest(SLOWEST);
    for (took, name) in slowest.iter().filter(|_| slowest.len() > 1) {
        stream::tell("note", &format!("{:.1} ms for {name} and what belongs to it", milliseconds(*took)));
    }
}

fn runs(arguments: &CheckArguments) -> human::Runs {
    match arguments.runs {
        arguments::Runs::None => human::Runs::None,
        arguments::Runs::First => human::Runs::First,
        arguments::Runs::All => human::Runs::All,
    }
}

/// How many findings each rule has, most first.
fn statistics(report: &Report) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        *counts.entry(finding.rule).or_default() += 1;
    }
    let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
    sorted.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
    sorted.iter().map(|(rule, count)| format!("{count:>6}  {rule}\n")).collect()
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
    let look = terminal::look(arguments.color);
    let mut text =
        render(arguments.format, report, sources, look, runs(arguments)).map_err(Failure::Stdout)?;
    if arguments.statistics {
        match arguments.format {
            Format::Human => text.extend(statistics(report).into_bytes()),
            // stdout is for the report alone.
            _ => statistics(report).lines().for_each(|line| stream::tell("note", line.trim_start())),
        }
    }
    stream::print(&text).map_err(Failure::Stdout)
}
