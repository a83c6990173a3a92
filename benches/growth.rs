//! Whether twice the code takes twice the time: copies of the labelled cases, packages and keys renamed so that nothing
//! of one copy is anything of another's, as projects of their own and as one workspace. And how long a run over nothing
//! takes. It prints and never fails on a figure.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table is what a benchmark is for")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Copies in the smaller tree.
const COPIES: usize = 4;
const ROUNDS: usize = 3;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("growth: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for (name, is_workspace) in [("many projects", false), ("one workspace", true)] {
        let (small, large) =
            (copies(&cases, COPIES, is_workspace)?, copies(&cases, 2 * COPIES, is_workspace)?);
        let (mut least, mut most) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            least = least.min(time(small.path())?);
            most = most.min(time(large.path())?);
        }
        let ratio = most.as_secs_f64() / least.as_secs_f64();
        println!(
            "{name}: {least:.0?} for {COPIES} copies, {most:.0?} for twice as many: × {ratio:.2} (aim: 2.1)"
        );
    }
    let empty = tempfile::tempdir()?;
    let times = (0..20).map(|_| time(empty.path())).collect::<Result<Vec<_>, _>>()?;
    println!("an empty folder: {:.1?} (aim: 10 ms)", times.into_iter().min().unwrap_or_default());
    let binary = fs::metadata(env!("CARGO_BIN_EXE_leaselint"))?.len();
    println!("the binary: {:.1} MB (aim: 15 MB)", binary as f64 / 1e6);
    Ok(())
}

fn copies(cases: &Path, count: usize, is_workspace: bool) -> Result<tempfile::TempDir, Box<dyn Error>> {
    let tree = tempfile::tempdir()?;
    if is_workspace {
        fs::write(tree.path().join("Cargo.toml"), "[workspace]\nmembers = [\"*/*\"]\n")?;
    }
    for copy in 0..count {
        for entry in ignore::WalkBuilder::new(cases).standard_filters(false).build() {
            let entry = entry?;
            let target = tree.path().join(copy.to_string()).join(entry.path().strip_prefix(cases)?);
            if entry.path().is_dir() {
                fs::create_dir_all(target)?;
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                let renamed = text.replace("name = \"", &format!("name = \"c{copy}-"));
                fs::write(target, renamed.replace("lock:", &format!("lock{copy}:")))?;
            }
        }
    }
    Ok(tree)
}

fn time(tree: &Path) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(["check", "--no-cache", "--exit-zero", "--quiet", "--format", "json"])
        .arg(tree)
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("leaselint ended with {status}").into());
    }
    Ok(start.elapsed())
}
