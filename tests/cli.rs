//! The command line as a user meets it: commands, flags, streams and exit codes.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A text that is no UTF-8, which is a finding of severity warning.
const ILLEGIBLE: &[u8] = b"SELECT 1;\n-- Gr\xFC\xDFe\n";

fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn command(binary: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(folder).args(arguments).env_remove("NO_COLOR");
    command
}

fn leaselint(folder: &Path, arguments: &[&str]) -> Output {
    command(env!("CARGO_BIN_EXE_leaselint"), folder, arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the process ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn object(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("stdout holds the report and nothing else")
}

#[test]
fn the_exit_code_says_whether_the_run_fails() {
    let good = tree(&[("a.sql", b"SELECT 1;\n")]);
    let bad = tree(&[("a.sql", ILLEGIBLE)]);
    assert_eq!(code(&leaselint(good.path(), &[])), 0);
    for (arguments, expected) in [
        (vec![], 1),
        (vec!["check"], 1),
        (vec!["a.sql"], 1),
        (vec!["--fail-on", "error"], 0),
        (vec!["--fail-on", "warning"], 1),
        (vec!["--fail-on", "info"], 1),
        (vec!["--fail-on", "never"], 0),
        (vec!["--exit-zero"], 0),
        (vec!["--ignore", "unreadable-input"], 0),
        (vec!["--ignore", "input"], 0),
        (vec!["--select", "input"], 1),
        (vec!["--select", "input", "--ignore", "unreadable-input"], 0),
    ] {
        let output = leaselint(bad.path(), &arguments);
        assert_eq!(code(&output), expected, "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_done_is_told_on_stderr_with_exit_code_2() {
    let tree = tree(&[("a.sql", b"")]);
    for (arguments, part) in [
        (vec!["nowhere"], "no such file or folder: nowhere"),
        (vec!["a.sql", "nowhere/a.rs"], "nowhere/a.rs"),
        (vec!["--select", "unredable-input"], "did you mean `unreadable-input`?"),
        (vec!["--ignore", "inputs"], "did you mean `input`?"),
        (vec!["--ignore", "no-such-thing-at-all"], "there is no rule or group `no-such-thing-at-all`"),
        (vec!["--format", "xml"], "xml"),
        (vec!["--output", "json"], "FORMAT=PATH"),
        (vec!["--output", "json=no/such/folder/a.json"], "no/such/folder/a.json"),
        (vec!["--jobs", "0"], "1 to 256"),
        (vec!["--no-such-flag"], "--no-such-flag"),
        (vec!["explain", "unreadable-inptu"], "did you mean `unreadable-input`?"),
        (vec!["explain"], "RULE"),
    ] {
        let output = leaselint(tree.path(), &arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn json_is_one_object_of_the_contract() {
    let tree = tree(&[("src/a.sql", ILLEGIBLE), ("src/b.sql", b"")]);
    let report = object(&leaselint(tree.path(), &["--format", "json"]));
    assert_eq!(report["schema"], 1);
    assert_eq!(report["tool"]["name"], "leaselint");
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "unreadable-input");
    assert_eq!(finding["group"], "input");
    assert_eq!(finding["severity"], "warning");
    assert_eq!(finding["path"], "src/a.sql");
    assert_eq!(finding["span"]["start"]["line"], 2);
    assert_eq!(finding["span"]["start"]["column"], 6);
    assert_eq!(finding["span"]["start"]["offset"], 15);
    assert_eq!(report["summary"]["files"], 2);
    assert_eq!(report["summary"]["warnings"], 1);
}

#[test]
fn reports_go_to_files_as_well() {
    let tree = tree(&[("a.sql", ILLEGIBLE)]);
    let arguments = ["--format", "json", "--output", "human=out.txt", "--output", "json=out.json"];
    let output = leaselint(tree.path(), &arguments);
    assert_eq!(code(&output), 1);
    let file = fs::read(tree.path().join("out.json")).unwrap();
    assert_eq!(file, output.stdout);
    let text = fs::read_to_string(tree.path().join("out.txt")).unwrap();
    assert!(text.contains("unreadable-input") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn quiet_and_verbose_concern_what_is_beside_the_report() {
    let bad = tree(&[("a.sql", ILLEGIBLE), ("b.sql", b"-- leaselint: alow(x)\n")]);
    let plain = leaselint(bad.path(), &[]);
    assert!(stderr(&plain).contains("b.sql:1:1: this suppression cannot be read"));
    let quiet = leaselint(bad.path(), &["--quiet"]);
    assert_eq!((stderr(&quiet).as_str(), stdout(&quiet)), ("", stdout(&plain)));
    let verbose = leaselint(bad.path(), &["--verbose", "--format", "json"]);
    assert!(stderr(&verbose).contains("1 of 2 parsed"), "{}", stderr(&verbose));
    assert_eq!(object(&verbose)["findings"][0]["path"], "a.sql");
    let good = tree(&[("a.sql", b"")]);
    assert_eq!(stdout(&leaselint(good.path(), &["--quiet"])), "");
}

#[test]
fn without_input_there_is_a_note_and_no_failure() {
    let tree = tree(&[("notes.txt", b"")]);
    for arguments in [vec![], vec!["notes.txt"]] {
        let output = leaselint(tree.path(), &arguments);
        assert_eq!(code(&output), 0);
        assert!(stderr(&output).contains("no Rust, SQL or Lua files found"));
        assert_eq!(stdout(&output), "");
    }
    let json = object(&leaselint(tree.path(), &["--format", "json"]));
    assert_eq!(json["summary"]["files"], 0);
}

#[test]
fn output_does_not_depend_on_threads_or_the_order_of_paths() {
    let names: Vec<String> = (0..40).map(|n| format!("d{}/f{n}.sql", n % 7)).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), ILLEGIBLE)).collect();
    let tree = tree(&files);
    let first = leaselint(tree.path(), &["--format", "json", "--jobs", "1"]).stdout;
    let folders = ["d6", "d0", "d5", "d1", "d4", "d2", "d3", "d3/f3.sql"];
    let arguments = [&["--format", "json", "--jobs", "4"], &folders[..]].concat();
    assert_eq!(first, leaselint(tree.path(), &arguments).stdout);
    assert_eq!(first, leaselint(tree.path(), &["--format", "json"]).stdout);
}

#[test]
fn ignored_files_are_checked_on_demand() {
    let tree = tree(&[(".gitignore", b"made\n"), ("made/a.sql", ILLEGIBLE), ("b.sql", b"")]);
    assert_eq!(code(&leaselint(tree.path(), &[])), 0);
    assert_eq!(code(&leaselint(tree.path(), &["--no-ignore"])), 1);
    assert_eq!(code(&leaselint(tree.path(), &["made/a.sql"])), 1);
}

#[test]
fn test_code_is_checked_on_demand() {
    let tree = tree(&[("tests/a.sql", ILLEGIBLE)]);
    assert_eq!(code(&leaselint(tree.path(), &[])), 0);
    assert_eq!(code(&leaselint(tree.path(), &["--tests"])), 1);
}

#[test]
fn a_suppressed_finding_does_not_fail_the_run_and_is_counted() {
    let tree = tree(&[("a.sql", b"-- leaselint: allow-file(input, reason = \"kept as found\")\n-- \xFC\n")]);
    let output = leaselint(tree.path(), &["--format", "json"]);
    assert_eq!(code(&output), 0);
    assert_eq!(object(&output)["summary"]["suppressed"], 1);
}

#[test]
fn rules_are_listed_and_explained() {
    let tree = tree(&[]);
    let list = leaselint(tree.path(), &["rules"]);
    assert_eq!(code(&list), 0);
    let line = stdout(&list).lines().find(|line| line.contains("unreadable-input")).map(str::to_owned);
    assert!(line.is_some_and(|line| line.starts_with("input") && line.contains("warning")));
    let page = leaselint(tree.path(), &["explain", "unreadable-input"]);
    assert_eq!(code(&page), 0);
    assert!(stdout(&page).starts_with("# unreadable-input"));
}

#[test]
fn there_is_a_man_page_for_each_command() {
    let tree = tree(&[]);
    let page = stdout(&leaselint(tree.path(), &["man"]));
    assert!(page.contains(".TH leaselint 1") && page.contains("leaselint\\-baseline(1)"), "{page}");
    let page = stdout(&leaselint(tree.path(), &["man", "baseline"]));
    assert!(page.contains(".TH leaselint-baseline 1") && page.contains("no\\-ignore"), "{page}");
    let unknown = leaselint(tree.path(), &["man", "basline"]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("did you mean `baseline`?"), "{}", stderr(&unknown));
    assert_eq!(code(&leaselint(tree.path(), &["man", "--all", "pages"])), 0);
    let names = fs::read_dir(tree.path().join("pages")).unwrap();
    let names: std::collections::BTreeSet<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for command in ["leaselint", "leaselint-check", "leaselint-lsp", "leaselint-init", "leaselint-baseline"] {
        assert!(names.contains(&format!("{command}.1")), "{names:?}");
    }
    let blocked = leaselint(tree.path(), &["man", "--all", "pages/leaselint.1"]);
    assert_eq!(code(&blocked), 2);
    assert!(stderr(&blocked).contains("cannot write pages/leaselint.1"), "{}", stderr(&blocked));
}

#[test]
fn it_is_a_cargo_subcommand() {
    let tree = tree(&[("a.sql", ILLEGIBLE)]);
    let binary = env!("CARGO_BIN_EXE_cargo-leaselint");
    let as_cargo_calls = command(binary, tree.path(), &["leaselint", "--format", "json"]).output().unwrap();
    assert_eq!(code(&as_cargo_calls), 1);
    assert_eq!(object(&as_cargo_calls)["findings"][0]["path"], "a.sql");
    let help = command(binary, tree.path(), &["leaselint", "--help"]).output().unwrap();
    assert!(stdout(&help).contains("cargo leaselint"), "{}", stdout(&help));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let names: Vec<String> = (0..2_000).map(|n| format!("f{n}.sql")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), ILLEGIBLE)).collect();
    let tree = tree(&files);
    let mut child = command(env!("CARGO_BIN_EXE_leaselint"), tree.path(), &["--color", "never"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

#[cfg(unix)]
#[test]
fn a_file_name_cannot_steer_the_terminal() {
    let tree = tree(&[("a\u{1b}[31m.txt", b"")]);
    let output = leaselint(tree.path(), &["a\u{1b}[31m.txt"]);
    assert!(stderr(&output).contains("is skipped") && !stderr(&output).contains('\u{1b}'));
}

/// A wrapper whose source is not in the workspace: nothing shows what its methods do.
const WRAPPED: &[u8] = br#"use acme_store::MyStore;

pub async fn report(store: &MyStore, day: &str, me: &str) -> anyhow::Result<()> {
    let key = format!("report-lock:{day}");
    if !store.put_if_absent(&key, me, 30).await? {
        return Ok(());
    }
    write(day).await?;
    store.drop_key(&key).await?;
    Ok(())
}

async fn write(day: &str) -> anyhow::Result<()> {
    Ok(tokio::fs::write(day, "done").await?)
}
"#;

const TAUGHT: &[u8] = br#"[[client]]
name = "acme-store"
connections = ["MyStore"]

[[client.method]]
names = ["put_if_absent"]
action = "set"
condition = "if-absent"
key = 0
value = 1
ttl = 2

[[client.method]]
names = ["drop_key"]
action = "delete"
key = 0
"#;

#[test]
fn a_wrapper_is_taught_by_leaselint_toml() {
    let untaught = tree(&[("app/src/lib.rs", WRAPPED)]);
    assert_eq!(code(&leaselint(untaught.path(), &[])), 0, "nothing shows what the wrapper does");
    let taught = tree(&[("app/src/lib.rs", WRAPPED), ("leaselint.toml", TAUGHT)]);
    let part = taught.path().join("app");
    for (folder, arguments) in [
        (taught.path(), vec![]),
        (taught.path(), vec!["app/src/lib.rs"]),
        (&part, vec![]),
        (untaught.path(), vec!["--config", taught.path().join("leaselint.toml").to_str().unwrap()]),
    ] {
        let report = object(&leaselint(folder, &[&arguments[..], &["--format", "json"]].concat()));
        let finding = &report["findings"][0];
        assert_eq!(finding["rule"], "unguarded-release", "{arguments:?}: {report}");
        assert_eq!(finding["span"]["start"]["line"], 9);
    }
    let repository =
        tree(&[("leaselint.toml", TAUGHT), ("inner/.git/HEAD", b""), ("inner/src/lib.rs", WRAPPED)]);
    assert_eq!(
        code(&leaselint(&repository.path().join("inner"), &[])),
        0,
        "another repository's is not read"
    );
}

#[test]
fn a_configuration_that_cannot_be_used_is_told_with_exit_code_2() {
    for (text, part) in [
        (
            "[[client]]\nname = \"s\"\nconections = [\"S\"]\n",
            "leaselint.toml:3:1: unknown field `conections`",
        ),
        ("[[client]]\nname = \"s\"\nconections = [\"S\"]\n", "did you mean `connections`?"),
        ("[[client]]\nname = \"s\"\n[[client.method]]\nnames = [\"put\"]\n", "missing field `action`"),
        ("client = [[\n", "leaselint.toml:"),
    ] {
        let tree = tree(&[("src/lib.rs", b""), ("leaselint.toml", text.as_bytes())]);
        let output = leaselint(tree.path(), &["src"]);
        assert_eq!(code(&output), 2, "{text}");
        assert!(stderr(&output).contains(part), "{text}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{text}");
    }
    let tree = tree(&[("src/lib.rs", b"")]);
    let output = leaselint(tree.path(), &["--config", "nowhere.toml"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("cannot read nowhere.toml"), "{}", stderr(&output));
}
