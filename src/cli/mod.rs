//! The command line: reads arguments, runs a command, prints, and answers with an exit code.
//!
//! Exit codes are a contract: 0 without a finding that fails the run, 1 with one, 2 when the command
//! could not do its work. stdout carries the report and nothing else; notes and errors go to stderr.

mod arguments;
mod baseline;
mod fix;
mod init;
mod language_server;
mod manual;
mod progress;
mod render;
mod report_file;
mod rule_pages;
mod run_audit;
mod run_check;
mod run_options;
mod stream;
mod terminal;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::cache;
use arguments::{Arguments, Command, Schema};

const FAILED: u8 = 1;
const COULD_NOT: u8 = 2;

/// Runs `leaselint` with its arguments, its own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(answer(Arguments::command(), arguments.into_iter().collect()))
}

/// Runs `cargo leaselint`: cargo calls `cargo-leaselint leaselint …`.
pub fn run_for_cargo(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == "leaselint") {
        arguments.remove(1);
    }
    ExitCode::from(answer(Arguments::command().bin_name("cargo leaselint"), arguments))
}

fn answer(command: clap::Command, arguments: Vec<OsString>) -> u8 {
    let parsed =
        command.try_get_matches_from(arguments).and_then(|matches| Arguments::from_arg_matches(&matches));
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version are answers, not errors; a reader who has gone needs neither.
            let _ = error.print();
            return if error.use_stderr() { COULD_NOT } else { 0 };
        }
    };
    match parsed.command {
        Some(Command::Check(check)) => run_check::run(&check),
        Some(Command::Audit(audit)) => run_audit::run(&audit),
        Some(Command::Baseline(arguments)) => run_check::write_baseline(&arguments),
        Some(Command::Init(arguments)) => init::run(&arguments),
        Some(Command::Lsp(arguments)) => language_server::run(arguments),
        Some(Command::Clean(arguments)) => clean(arguments.cache_dir),
        Some(Command::Explain { rule }) => rule_pages::explain(&rule),
        Some(Command::Rules) => rule_pages::list(),
        Some(Command::Completions { shell }) => print_bytes(&completions(shell)),
        Some(Command::Man(arguments)) => manual::run(&arguments),
        Some(Command::Schema { of: Schema::Json }) => print(crate::report::json::SCHEMA),
        Some(Command::Schema { of: Schema::Audit }) => print(crate::report::audit::SCHEMA),
        Some(Command::Schema { of: Schema::Config }) => print(crate::configuration::SCHEMA),
        None => run_check::run(&parsed.check),
    }
}

fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "leaselint", &mut text);
    text
}

fn clean(named: Option<PathBuf>) -> u8 {
    let Some(folder) = named.or_else(cache::default_folder) else {
        stream::tell("error", "no folder for caches is known on this system: name one with --cache-dir");
        return COULD_NOT;
    };
    match cache::clean(&folder) {
        Ok(was_there) => {
            let what = if was_there { "removed" } else { "there is no cache in" };
            stream::tell("note", &format!("{what} {}", folder.display()));
            0
        }
        Err(error) => {
            stream::tell("error", &error.to_string());
            COULD_NOT
        }
    }
}

fn print(text: &str) -> u8 {
    print_bytes(text.as_bytes())
}

fn print_bytes(text: &[u8]) -> u8 {
    match stream::print(text) {
        Ok(()) => 0,
        Err(error) => {
            stream::tell("error", &format!("cannot write to stdout: {error}"));
            COULD_NOT
        }
    }
}
