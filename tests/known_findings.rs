//! What is reported when something is known already: suppressions, baselines, changes since a revision; and the
//! text of an editor in the place of a file's.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    command.args(arguments).current_dir(folder);
    command
}

fn leaselint(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

/// `path:line rule` of each finding.
fn found(folder: &Path, arguments: &[&str]) -> Vec<String> {
    places(&report(&leaselint(folder, &[&["--format", "json"], arguments].concat())))
}

fn places(report: &Value) -> Vec<String> {
    let each = report["findings"].as_array().unwrap().iter().map(|finding| {
        let line = &finding["span"]["start"]["line"];
        format!("{}:{line} {}", finding["path"].as_str().unwrap(), finding["rule"].as_str().unwrap())
    });
    each.collect()
}

const NOTHING: [&str; 0] = [];

/// One function with one defect, on its fifth line.
fn release(name: &str) -> String {
    format!(
        "pub async fn {name}(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<()> {{\n    \
         use redis::AsyncCommands;\n    let held: Option<String> = conn.get(\"{name}-lock\").await?;\n    \
         if held.as_deref() == Some(me) {{\n        conn.del::<_, ()>(\"{name}-lock\").await?;\n    }}\n    Ok(())\n}}\n"
    )
}

/// As [`release`], laid out otherwise.
fn release_reformatted(name: &str) -> String {
    release(name).replace(
        &format!("        conn.del::<_, ()>(\"{name}-lock\").await?;"),
        &format!("        conn.del::<_, ()>(\n            \"{name}-lock\",\n        )\n        .await?;"),
    )
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nredis = \"0.27\"\n");
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_baseline_hides_what_it_knows_wherever_it_moves() {
    let tree = project(&[("src/lib.rs", &release("job"))]);
    let written = leaselint(tree.path(), &["baseline"]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    assert!(stderr(&written).contains("wrote 1 findings to leaselint-baseline.json"), "{}", stderr(&written));
    let known = ["--baseline", "leaselint-baseline.json"];
    let hidden = leaselint(tree.path(), &[&["--format", "json"], &known[..]].concat());
    assert_eq!(hidden.status.code(), Some(0));
    assert_eq!(report(&hidden)["summary"]["baselined"], 1);
    assert_eq!(report(&hidden)["summary"]["errors"], 0);
    let text = format!("//! Moved.\n\n{}", release_reformatted("job"));
    write(tree.path(), "src/lib.rs", &text);
    assert_eq!(found(tree.path(), &known), NOTHING, "moved down and broken over lines");
    write(tree.path(), "src/lib.rs", &format!("{text}\n{}", release("other")));
    assert_eq!(found(tree.path(), &known), ["src/lib.rs:19 get-then-del"], "a new one is reported");
    assert_eq!(found(&tree.path().join("src"), &["--baseline", "../leaselint-baseline.json"]).len(), 1);
}

#[test]
fn a_configured_baseline_is_read_and_renewed() {
    let tree = project(&[
        ("src/lib.rs", &release("job")),
        ("src/b.rs", &release("b")),
        ("leaselint.toml", "baseline = \"known.json\"\n"),
    ]);
    let missing = leaselint(tree.path(), &[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("`leaselint baseline` writes one"), "{}", stderr(&missing));
    assert_eq!(leaselint(tree.path(), &["baseline"]).status.code(), Some(0));
    assert_eq!(found(tree.path(), &[]), NOTHING);
    assert_eq!(found(tree.path(), &["--no-baseline"]).len(), 2);
    let first = fs::read(tree.path().join("known.json")).unwrap();
    assert_eq!(leaselint(tree.path(), &["baseline", "src/b.rs"]).status.code(), Some(0));
    assert_eq!(fs::read(tree.path().join("known.json")).unwrap(), first, "other files' entries are kept");
    write(tree.path(), "src/b.rs", "");
    let stale = leaselint(tree.path(), &[]);
    assert_eq!(stale.status.code(), Some(0));
    assert!(stderr(&stale).contains("1 of the findings in known.json are gone"), "{}", stderr(&stale));
    assert!(!stderr(&leaselint(tree.path(), &["src/lib.rs"])).contains("gone"), "b.rs was not looked at");
    leaselint(tree.path(), &["baseline"]);
    assert_eq!(stderr(&leaselint(tree.path(), &[])), "");
}

#[test]
fn a_baseline_that_cannot_be_used_is_told() {
    let tree =
        project(&[("src/lib.rs", ""), ("bad.json", "{"), ("new.json", "{\"schema\": 9, \"findings\": []}")]);
    for (path, part) in [
        ("bad.json", "bad.json is no baseline of leaselint"),
        ("new.json", "its schema is 9"),
        ("nowhere.json", "cannot read the baseline nowhere.json"),
        ("src", "cannot read the baseline src"),
    ] {
        let output = leaselint(tree.path(), &["--baseline", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(stderr(&output).contains(part), "{path}: {}", stderr(&output));
    }
    let output = leaselint(tree.path(), &["baseline", "--baseline", "no/such/folder.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot write no/such/folder.json"), "{}", stderr(&output));
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", "x"]);
}

#[test]
fn since_a_revision_only_what_changes_concern_is_reported() {
    let tree = project(&[
        ("src/lib.rs", "pub mod a;\npub mod b;\n"),
        ("src/a.rs", &release("a")),
        ("src/b.rs", &release("b")),
    ]);
    git(tree.path(), &["init", "-q", "-b", "main"]);
    commit(tree.path());
    let since = |arguments: &[&str]| found(tree.path(), &[&["--new-since", "main"], arguments].concat());
    assert_eq!(since(&[]), NOTHING);
    // Lines that only move change nothing; a file that git does not know is new.
    write(tree.path(), "src/a.rs", &format!("//! Moved.\n\n{}", release("a")));
    write(tree.path(), "src/c d.rs", &release("c"));
    assert_eq!(since(&[]), ["src/c d.rs:5 get-then-del"]);
    let told = stderr(&leaselint(tree.path(), &["--new-since", "main"]));
    assert!(told.contains("2 older findings are not shown"), "{told}");
    // Not the line of the finding, but one that belongs to it.
    write(tree.path(), "src/b.rs", &release("b").replace("held", "stored"));
    assert_eq!(since(&["src/b.rs"]), ["src/b.rs:5 get-then-del"], "its lock was touched");
    git(tree.path(), &["checkout", "-qb", "work"]);
    commit(tree.path());
    assert_eq!(since(&[]), ["src/b.rs:5 get-then-del", "src/c d.rs:5 get-then-del"]);
    assert_eq!(found(&tree.path().join("src"), &["--new-since", "main", "b.rs"]).len(), 1);
}

#[test]
fn a_change_of_one_operation_concerns_the_findings_of_its_lock() {
    let take = "pub async fn take(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<bool> {\n    \
                let won: Option<String> = redis::cmd(\"SET\").arg(\"job-lock\").arg(me).arg(\"NX\").arg(\"EX\").arg(30).query_async(conn).await?;\n    \
                Ok(won.is_some())\n}\n";
    let tree = project(&[
        ("src/lib.rs", "mod take;\nmod free;\n"),
        ("src/take.rs", take),
        ("src/free.rs", &release("job")),
    ]);
    git(tree.path(), &["init", "-q", "-b", "main"]);
    commit(tree.path());
    write(tree.path(), "src/take.rs", &take.replace(".arg(30)", ".arg(60)"));
    assert_eq!(found(tree.path(), &["--new-since", "HEAD"]), ["src/free.rs:5 get-then-del"]);
}

#[test]
fn what_git_cannot_tell_is_told_with_exit_code_2() {
    let tree = project(&[("src/lib.rs", "")]);
    let outside = leaselint(tree.path(), &["--new-since", "main"]);
    assert_eq!(outside.status.code(), Some(2));
    assert!(
        stderr(&outside).contains("git cannot tell what has changed since `main`"),
        "{}",
        stderr(&outside)
    );
    git(tree.path(), &["init", "-q"]);
    commit(tree.path());
    for revision in ["nowhere", "--output=x"] {
        let unknown = leaselint(tree.path(), &[&format!("--new-since={revision}")]);
        assert_eq!(unknown.status.code(), Some(2), "{revision}");
        assert!(stderr(&unknown).contains("there is no such commit"), "{revision}: {}", stderr(&unknown));
    }
}

fn with_stdin(folder: &Path, arguments: &[&str], text: &[u8]) -> Output {
    let mut child = command(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn an_editor_s_text_takes_the_place_of_the_file() {
    let tree = project(&[("src/lib.rs", "pub mod a;\n"), ("src/a.rs", ""), ("src/b.rs", &release("b"))]);
    let arguments = ["--format", "json", "--stdin-filename", "src/a.rs"];
    let output = with_stdin(tree.path(), &arguments, release("a").as_bytes());
    assert_eq!(places(&report(&output)), ["src/a.rs:5 get-then-del"], "and of it alone");
    let saved = with_stdin(tree.path(), &["--format", "json", "--stdin-filename", "src/b.rs"], b"");
    assert_eq!(places(&report(&saved)), NOTHING, "what is on disk does not count");
    let new = ["--format", "json", "--stdin-filename", "src/new.rs"];
    assert_eq!(places(&report(&with_stdin(tree.path(), &new, release("n").as_bytes()))).len(), 1);
    let nowhere = with_stdin(tree.path(), &["--stdin-filename", "no/such/a.rs"], b"");
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("no such file or folder: no/such/a.rs"), "{}", stderr(&nowhere));
    let illegible = with_stdin(tree.path(), &["--stdin-filename", "src/a.rs"], b"\xFF\xFEa");
    assert_eq!(illegible.status.code(), Some(2), "{}", stderr(&illegible));
    assert!(stderr(&illegible).contains("cannot read stdin"), "{}", stderr(&illegible));
}

#[test]
fn statistics_count_the_findings_of_each_rule() {
    let tree =
        project(&[("src/a.rs", &release("a")), ("src/b.rs", &release("b")), ("c.sql", "SELECT 'open")]);
    let human = leaselint(tree.path(), &["--statistics"]);
    let text = String::from_utf8(human.stdout).unwrap();
    assert!(text.ends_with("     2  get-then-del\n     1  unreadable-input\n"), "{text}");
    let json = leaselint(tree.path(), &["--statistics", "--format", "json"]);
    assert!(
        report(&json).is_object() && stderr(&json).contains("note: 2  get-then-del"),
        "{}",
        stderr(&json)
    );
}

#[test]
fn completions_and_the_man_page_are_printed() {
    let here = Path::new(".");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(leaselint(here, &["completions", shell]).stdout).unwrap();
        assert!(script.contains("leaselint") && script.contains("stdin-filename"), "{shell}");
    }
    let page = String::from_utf8(leaselint(here, &["man"]).stdout).unwrap();
    assert!(page.contains(".TH leaselint 1") && page.contains("fail\\-on"), "{page}");
}
