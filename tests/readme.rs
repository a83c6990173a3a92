//! The session in README is real: the projects of `docs/session/` are checked, and what the tool prints is
//! what README shows. `BLESS=1 cargo test --test readme` rewrites it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BEGIN: &str = "<!-- session:begin -->\n";
const DIFF: &str = "```diff\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn project(name: &str) -> PathBuf {
    root().join("docs/session").join(name)
}

/// The exit code and the report of a check.
fn check(project: &Path) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(["check", "--color", "never"])
        .current_dir(project)
        .output()
        .expect("cargo has built the binary");
    (done.status.code(), String::from_utf8(done.stdout).expect("reports are UTF-8"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README is UTF-8")
}

#[test]
fn the_report_is_what_the_tool_prints() {
    let text = readme();
    let (before, rest) = text.split_once(BEGIN).expect("the mark where the session begins");
    let at = rest.find(DIFF).expect("the session ends with the repair");
    let (code, report) = check(&project("before"));
    assert_eq!(code, Some(1));
    let shown = format!("```console\n$ leaselint check\n{report}```\n\n");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        let text = format!("{before}{BEGIN}{shown}{}", &rest[at..]);
        fs::write(root().join("README.md"), text).expect("README can be written");
        return;
    }
    assert_eq!(&rest[..at], shown, "BLESS=1 cargo test --test readme rewrites it");
}

#[test]
fn the_repair_is_what_was_changed_and_leaves_nothing_to_report() {
    let text = readme();
    let (_, rest) = text.split_once(DIFF).expect("the repair is shown as a diff");
    let (diff, _) = rest.split_once("```\n").expect("the diff ends");
    let source = |name| fs::read_to_string(project(name).join("src/lib.rs")).expect("it is UTF-8");
    assert_eq!(side(diff, '-'), body(&source("before")));
    assert_eq!(side(diff, '+'), body(&source("after")));
    assert_eq!(check(&project("after")).0, Some(0));
}

/// The lines that a diff shows of one side.
fn side(diff: &str, mark: char) -> Vec<&str> {
    diff.lines().filter_map(|line| line.strip_prefix([mark, ' '])).collect()
}

/// The lines of a source file behind its imports.
fn body(source: &str) -> Vec<&str> {
    source.lines().skip_while(|line| line.is_empty() || line.starts_with("use ")).collect()
}
