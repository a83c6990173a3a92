//! How fast `leaselint check` goes through dumps, in megabytes a second of the whole process: INSERT row by
//! row, INSERT of many rows, and COPY. `cargo bench --bench dumps [-- MEGABYTES]`. It makes the dumps itself,
//! prints, and never fails on a figure: times on a shared machine are not for gates.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table is what a benchmark is for")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;
/// Below the size above which a file is not read.
const MEGABYTES: usize = 12;
const TABLE: &str = "CREATE TABLE people (id bigint PRIMARY KEY, name text, note text, boss bigint, paid numeric, hired timestamptz, here boolean);\n";

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    // cargo itself adds `--bench`.
    let megabytes = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(MEGABYTES);
    match run(megabytes * 1_000_000) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("dumps: {err}");
            ExitCode::FAILURE
        }
    }
}

fn run(size: usize) -> Result<(), Failure> {
    println!("{:16} {:>8} {:>8} {:>8}   (aim: at least 20 MB/s)", "", "MB", "ms", "MB/s");
    for (name, dump) in [
        ("one row each", rows_one_by_one(size)),
        ("many rows", rows_together(size)),
        ("COPY", copied_rows(size)),
    ] {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("migrations"))?;
        fs::write(folder.path().join("migrations/0001_data.sql"), &dump)?;
        let mut best = Duration::MAX;
        // The first round warms the page cache.
        for round in 0..=ROUNDS {
            let took = check(folder.path())?;
            if round > 0 {
                best = best.min(took);
            }
        }
        let (megabytes, seconds) = (dump.len() as f64 / 1e6, best.as_secs_f64());
        println!("{name:16} {megabytes:>8.1} {:>8.0} {:>8.0}", seconds * 1e3, megabytes / seconds);
    }
    Ok(())
}

fn check(folder: &Path) -> Result<Duration, Failure> {
    let started = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .current_dir(folder)
        .args(["check", "."])
        .stdout(Stdio::null())
        .status()?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { Err(format!("leaselint ended with {status}").into()) }
}

fn row(n: usize) -> String {
    let (pay, day) = (n % 97, n % 28 + 1);
    format!(
        "({n}, 'Person {n}', 'it''s a note; with (marks) -- and {n}', NULL, -{pay}.5, '2024-01-{day:02} 10:00:00', true)"
    )
}

fn rows_one_by_one(size: usize) -> String {
    let mut dump = TABLE.to_owned();
    for n in 0.. {
        let _ =
            writeln!(dump, "INSERT INTO people (id, name, note, boss, paid, hired, here) VALUES {};", row(n));
        if dump.len() >= size {
            break;
        }
    }
    dump
}

fn rows_together(size: usize) -> String {
    const TOGETHER: usize = 500;
    let mut dump = TABLE.to_owned();
    for first in (0..).step_by(TOGETHER) {
        let rows: Vec<String> = (first..first + TOGETHER).map(row).collect();
        let _ = writeln!(dump, "INSERT INTO people VALUES {};", rows.join(",\n"));
        if dump.len() >= size {
            break;
        }
    }
    dump
}

fn copied_rows(size: usize) -> String {
    let mut dump = format!("{TABLE}COPY people FROM stdin;\n");
    for n in 0.. {
        let _ =
            writeln!(dump, "{n}\tPerson {n}\tit's a note; with (marks)\t\\N\t1.5\t2024-01-01 10:00:00\tt");
        if dump.len() >= size {
            break;
        }
    }
    dump.push_str("\\.\n");
    dump
}
