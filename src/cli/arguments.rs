//! The commands and their flags.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::finding::Applicability;

/// Finds the distributed-lock code that lets a paused worker write stale data.
#[derive(Debug, Parser)]
#[command(name = "leaselint", version, args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Exit codes: 0 nothing that fails the run, 1 findings, 2 the command could not do its work."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) check: CheckArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Find problems (the default command)
    Check(CheckArguments),
    /// List every lock with its life cycle and its verdict on the four items of the checklist
    Audit(AuditArguments),
    /// Write down today's findings, so that later checks report new ones only
    Baseline(BaselineArguments),
    /// Write a configuration for the project as it is, and the hook for pre-commit; overwrites nothing
    Init(InitArguments),
    /// Serve an editor over stdin and stdout, as the Language Server Protocol asks
    Lsp(LanguageServerArguments),
    /// Remove what runs have kept for later ones
    Clean(CleanArguments),
    /// Print a rule's page: why, bad, good, fix, what it does not flag
    Explain {
        /// The rule's name
        rule: String,
    },
    /// List the rules with their groups and levels
    Rules,
    /// Print a script that completes commands in a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a man page, or write all of them
    Man(ManualArguments),
    /// Print a JSON Schema
    Schema {
        /// Of what
        #[arg(value_enum)]
        of: Schema,
    },
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Files and folders; the working directory when none is given
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) scope: Scope,
    /// The form of the report on stdout
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    /// Write a report to a file as well, such as sarif=report.sarif (may be given several times)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = parse_output)]
    pub(super) output: Vec<Output>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: Color,
    /// The lowest severity that makes the exit code 1
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub(super) fail_on: FailOn,
    /// Exit with 0 even when there are findings
    #[arg(long)]
    pub(super) exit_zero: bool,
    /// Leave out the findings that this file knows (see `leaselint baseline`)
    #[arg(long, value_name = "FILE", conflicts_with = "no_baseline")]
    pub(super) baseline: Option<PathBuf>,
    /// Report the findings that the configured baseline knows as well
    #[arg(long)]
    pub(super) no_baseline: bool,
    /// Report only what concerns lines, and locks, changed since this revision (asks git)
    #[arg(long, value_name = "REV")]
    pub(super) new_since: Option<String>,
    #[command(flatten)]
    pub(super) fixes: FixArguments,
    /// Of which findings the human report shows the run of the model that does the harm
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub(super) runs: Runs,
    /// Count the findings of each rule at the end of the human report
    #[arg(long)]
    pub(super) statistics: bool,
    /// Read this file's text from stdin, and report on it alone
    #[arg(long, value_name = "PATH", conflicts_with_all = ["paths", "new_since"])]
    pub(super) stdin_filename: Option<PathBuf>,
    /// Print the configuration that holds for these paths, and check nothing
    #[arg(long, conflicts_with = "show_files")]
    pub(super) show_config: bool,
    /// Print the files that would be checked, and check nothing
    #[arg(long)]
    pub(super) show_files: bool,
    /// Print the report only, and nothing when there are no findings
    #[arg(long, short, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say on stderr what was read
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Say on stderr how long each stage took
    #[arg(long)]
    pub(super) timings: bool,
}

/// What is mended.
#[derive(Debug, Args)]
pub(super) struct FixArguments {
    /// Write the fixes that are right for certain, then report what is left
    #[arg(long, conflicts_with = "stdin_filename")]
    pub(super) fix: bool,
    /// Write the fixes as well that a person should look at
    #[arg(long, conflicts_with = "stdin_filename")]
    pub(super) fix_suggested: bool,
    /// Print what the fixes would change, and write nothing
    #[arg(long, conflicts_with = "output")]
    pub(super) diff: bool,
    /// Fix files that have changes which are not committed, or that are not under git
    #[arg(long)]
    pub(super) allow_dirty: bool,
}

impl FixArguments {
    /// How sure a fix must be to be written; `None` when nothing is.
    pub(super) fn wanted(&self) -> Option<Applicability> {
        if self.fix_suggested {
            Some(Applicability::Suggestion)
        } else {
            (self.fix || self.diff).then_some(Applicability::Machine)
        }
    }
}

/// What is checked of the files, and for what.
#[derive(Debug, Default, Args)]
pub(super) struct Scope {
    /// Only these rules or groups
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// All but these rules or groups
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// Show findings of severity info and of low confidence too
    #[arg(long)]
    pub(super) pedantic: bool,
    /// Report on tests, benches and examples too
    #[arg(long)]
    pub(super) tests: bool,
    /// Read this file instead of the leaselint.toml in or above the checked folders
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Walk what .gitignore and .ignore hide
    #[arg(long)]
    pub(super) no_ignore: bool,
    /// How many threads to use
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(super) jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(super) cache: CacheArguments,
}

/// What is kept for later runs.
#[derive(Debug, Default, Args)]
pub(super) struct CacheArguments {
    /// Use nothing that earlier runs have kept, and keep nothing
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Keep what later runs can use in this folder instead of the user's own
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_cache")]
    pub(super) cache_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CleanArguments {
    /// The folder to remove instead of the user's own
    #[arg(long, value_name = "FOLDER")]
    pub(super) cache_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct AuditArguments {
    /// Files and folders; the working directory when none is given
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) scope: Scope,
    /// The form of the audit on stdout
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: AuditFormat,
    /// Exit with 1 unless these items hold for every lock
    #[arg(long, value_enum, value_name = "ITEM", value_delimiter = ',')]
    pub(super) require: Vec<AuditItem>,
    /// Say which locks are better or worse than at this revision (asks git)
    #[arg(long, value_name = "REV")]
    pub(super) diff: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum AuditFormat {
    /// For people, at a terminal
    #[default]
    Human,
    /// For a pull request or a wiki
    Markdown,
    /// One page that needs nothing but itself, with the runs drawn
    Html,
    /// One JSON object
    Json,
}

/// The items of the checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AuditItem {
    /// Storage refuses stale writes
    Storage,
    /// Ownership is compared and acted on in one step
    Atomic,
    /// No wall clock decides how long a lock is valid
    Clock,
    /// SIGTERM is handled
    Shutdown,
}

#[derive(Debug, Args)]
pub(super) struct BaselineArguments {
    /// Files and folders; the working directory when none is given
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) scope: Scope,
    /// The file to write; the configured baseline, or leaselint-baseline.json, when none is given
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct InitArguments {
    /// The root of the project; the working directory when none is given
    #[arg(value_name = "FOLDER")]
    pub(super) path: Option<PathBuf>,
    /// Print the configuration, and write nothing
    #[arg(long)]
    pub(super) print: bool,
    /// Write no hook
    #[arg(long)]
    pub(super) no_hook: bool,
}

#[derive(Debug, Args)]
pub(super) struct ManualArguments {
    /// The command; the tool itself when none is given
    #[arg(value_name = "COMMAND", conflicts_with = "all")]
    pub(super) command: Option<String>,
    /// Write the pages of the tool and of all commands into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) all: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct LanguageServerArguments {
    #[command(flatten)]
    pub(super) scope: Scope,
    /// What editors say to servers that know other ways as well
    #[arg(long, hide = true)]
    stdio: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// For people, with the source
    #[default]
    Human,
    /// One line a finding: path:line:column: severity[rule]: message
    Concise,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Lines as cargo prints them, for rust-analyzer
    Rustc,
    /// Workflow commands, for annotations on GitHub
    Github,
    /// A Code Quality report, for GitLab
    Gitlab,
    /// One object for reviewdog
    Rdjson,
    /// One line a finding for reviewdog
    Rdjsonl,
    /// JUnit's XML
    Junit,
    /// Checkstyle's XML
    Checkstyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Schema {
    /// The report of `--format json`
    Json,
    /// The output of `audit --format json`
    Audit,
    /// leaselint.toml
    Config,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Runs {
    None,
    /// Of the first of each rule
    #[default]
    First,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum FailOn {
    Error,
    #[default]
    Warning,
    Info,
    Never,
}

/// A report that goes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) format: Format,
    pub(super) path: PathBuf,
}

fn parse_output(text: &str) -> Result<Output, String> {
    let (format, path) = text.split_once('=').ok_or("the form is FORMAT=PATH, such as json=report.json")?;
    let format = Format::from_str(format, false).map_err(|_| {
        let known: Vec<String> = Format::value_variants()
            .iter()
            .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
            .collect();
        format!("there is no format `{format}`; there are {}", known.join(", "))
    })?;
    if path.is_empty() {
        return Err("the path is missing".to_owned());
    }
    Ok(Output { format, path: path.into() })
}

/// Each thread reserves a large stack, so that their number must stay sane.
fn parse_jobs(text: &str) -> Result<NonZeroUsize, String> {
    const MOST: usize = 256;
    text.parse()
        .ok()
        .filter(|jobs: &NonZeroUsize| jobs.get() <= MOST)
        .ok_or(format!("a number from 1 to {MOST} is wanted"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn check_is_the_default_command() {
        let bare = Arguments::try_parse_from(["leaselint", "--pedantic", "src", "a.sql"]).unwrap();
        assert!(bare.command.is_none() && bare.check.scope.pedantic);
        assert_eq!(bare.check.paths.len(), 2);
        let named = Arguments::try_parse_from(["leaselint", "check", "--jobs", "2", "src"]).unwrap();
        assert!(
            matches!(named.command, Some(Command::Check(check)) if check.scope.jobs == NonZeroUsize::new(2))
        );
    }

    #[test]
    fn outputs_and_jobs_are_checked() {
        let json = Output { format: Format::Json, path: "a=b".into() };
        assert_eq!(parse_output("json=a=b"), Ok(json));
        assert!(parse_output("json").is_err() && parse_output("json=").is_err());
        assert!(parse_output("xml=a").unwrap_err().contains("human, concise, json"));
        assert!(parse_jobs("0").is_err() && parse_jobs("257").is_err() && parse_jobs("x").is_err());
    }
}
