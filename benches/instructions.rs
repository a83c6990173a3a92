//! How many instructions a run over a small tree takes, counted by callgrind: unlike times, the same on a busy machine.
//! `cargo bench --bench instructions` fails when there are more than the bound, so that what makes every run slower does
//! not go unseen. When a change is worth its price, the bound moves with it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a figure is what a benchmark is for")]

use std::process::{Command, ExitCode};

/// Of the release profile, over leasehold's sources: two runs differ by less than one in ten thousand.
const BOUND: u64 = 640_000_000;

/// What another compiler may add before the bound is at fault, in hundredths.
const SLACK: u64 = 5;

fn main() -> ExitCode {
    match count() {
        Ok(count) => {
            let most = BOUND + BOUND / 100 * SLACK;
            println!("{count} instructions; the bound is {BOUND}, and {SLACK} % more");
            if count > most { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count() -> Result<u64, Box<dyn std::error::Error>> {
    let out = tempfile::NamedTempFile::new()?;
    let mut callgrind = Command::new("valgrind");
    callgrind.args(["--tool=callgrind", "--error-exitcode=3"]);
    callgrind.arg(format!("--callgrind-out-file={}", out.path().display()));
    callgrind.args([env!("CARGO_BIN_EXE_leaselint"), "check", "--no-cache", "--jobs", "1", "--exit-zero"]);
    callgrind.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/runtime/src"));
    let done = callgrind.output().map_err(|error| format!("valgrind could not be run: {error}"))?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
    }
    let text = std::fs::read_to_string(out.path())?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: ")));
    Ok(line.ok_or("callgrind has counted nothing")?.trim().parse()?)
}
