//! What is only for a person at a terminal: the line about a long run, and links. The terminal is a real one, made
//! for the test; without one, nothing of it may come out.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CASE: &str = "fixtures/get-then-del/bad_one_function/src/lib.rs";
const LINK: &str = "\u{1b}]8;;";

/// A project of so many files with a finding in each.
fn project(files: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(CASE)).unwrap();
    for file in 0..files {
        fs::write(folder.path().join(format!("f{file}.rs")), &text).unwrap();
    }
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    command.args(arguments).current_dir(folder).env("TERM", "xterm-256color").stdin(Stdio::null());
    for variable in ["NO_COLOR", "FORCE_HYPERLINK", "CI"] {
        command.env_remove(variable);
    }
    command
}

/// Runs it with stderr, and stdout where it is asked for, at a terminal; gives what the terminal got, and stdout.
fn at_a_terminal(mut command: Command, stdout_as_well: bool) -> (String, Vec<u8>) {
    let terminal = nix::pty::openpty(None, None).unwrap();
    let slave = File::from(terminal.slave);
    command.stderr(slave.try_clone().unwrap());
    command.stdout(if stdout_as_well { Stdio::from(slave.try_clone().unwrap()) } else { Stdio::piped() });
    let mut child = command.spawn().unwrap();
    // The terminal closes when nobody but the child has its other end.
    drop((command, slave));
    let mut master = File::from(terminal.master);
    let reader = std::thread::spawn(move || {
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        // The other end's close is told as an error.
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            seen.extend_from_slice(&buffer[..count]);
        }
        seen
    });
    let mut out = Vec::new();
    child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut out));
    child.wait().unwrap();
    (String::from_utf8_lossy(&reader.join().unwrap()).into_owned(), out)
}

/// A project that takes longer than anybody waits without wondering, on this machine.
fn slow_project() -> tempfile::TempDir {
    let mut files = 250;
    loop {
        let project = project(files);
        let start = Instant::now();
        command(project.path(), &["--format", "json"]).output().unwrap();
        if start.elapsed() > Duration::from_millis(2500) {
            return project;
        }
        files *= 2;
        assert!(files < 100_000, "no project is large enough");
    }
}

#[test]
fn a_long_run_says_how_far_it_is_and_leaves_nothing_behind() {
    let project = slow_project();
    let plain = command(project.path(), &["--format", "json"]).output().unwrap();
    assert!(plain.stderr.is_empty(), "nobody is at a terminal");
    let (seen, out) = at_a_terminal(command(project.path(), &["--format", "json"]), false);
    assert!(["reading ", "parsing ", "following locks"].iter().any(|step| seen.contains(step)), "{seen:?}");
    assert!(seen.contains("1s") && seen.ends_with("\r\u{1b}[2K"), "the line is taken away: {seen:?}");
    assert!(out == plain.stdout, "the report is the same");

    let (seen, _) = at_a_terminal(command(project.path(), &["--quiet", "--format", "json"]), false);
    assert_eq!(seen, "");
    let mut dumb = command(project.path(), &["--format", "json"]);
    dumb.env("TERM", "dumb");
    assert_eq!(at_a_terminal(dumb, false).0, "");
}

#[test]
fn a_short_run_says_nothing() {
    let (seen, out) = at_a_terminal(command(project(1).path(), &["--format", "json"]), false);
    assert_eq!(seen, "");
    assert!(!out.is_empty());
}

#[test]
fn names_of_rules_are_links_where_a_terminal_knows_them() {
    let project = project(1);
    let shown = |arguments: &[&str], force: &str, terminal: bool| {
        let mut command = command(project.path(), arguments);
        command.env("FORCE_HYPERLINK", force);
        if terminal {
            return at_a_terminal(command, true).0;
        }
        if force.is_empty() {
            command.env_remove("FORCE_HYPERLINK");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for arguments in [&[][..], &["--format", "concise"]] {
        let linked = shown(arguments, "1", true);
        let link =
            format!("{LINK}https://leaselint.dev/rules/get-then-del\u{1b}\\get-then-del{LINK}\u{1b}\\");
        assert!(linked.contains(&link), "{linked:?}");
        assert!(!shown(arguments, "0", true).contains(LINK));
        assert!(!shown(arguments, "", false).contains(LINK), "a pipe is no terminal");
    }
    assert!(!shown(&["--color", "never"], "1", true).contains('\u{1b}'));
    assert!(!shown(&["--format", "json"], "1", true).contains(LINK));
}
