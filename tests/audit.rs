//! The command `audit`: its forms, its gate, what has changed since a revision, and its page in a real browser.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "audit/browser.rs"]
mod browser;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A lock with a defect in its release, and what would break out of a page if it were not escaped.
const BEFORE: &str = r#"use redis::{AsyncCommands, aio::ConnectionManager};

pub async fn take(conn: &mut ConnectionManager, me: &str) -> redis::RedisResult<bool> {
    let won: Option<String> = redis::cmd("SET").arg("<b>&|`x`-lock:{}").arg(me).arg("NX").arg("PX").arg(30_000).query_async(conn).await?;
    Ok(won.is_some())
}

pub async fn give_back(conn: &mut ConnectionManager, me: &str) -> redis::RedisResult<()> {
    let held: Option<String> = conn.get("<b>&|`x`-lock:{}").await?;
    if held.as_deref() == Some(me) {
        conn.del::<_, ()>("<b>&|`x`-lock:{}").await?;
    }
    Ok(())
}
"#;

fn after() -> String {
    let at = BEFORE.find("pub async fn give_back").unwrap();
    let sound = r#"pub async fn give_back(conn: &mut ConnectionManager, me: &str) -> redis::RedisResult<bool> {
    let script = redis::Script::new("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0");
    let freed: i64 = script.key("<b>&|`x`-lock:{}").arg(me).invoke_async(conn).await?;
    Ok(freed == 1)
}
"#;
    format!("{}{sound}", &BEFORE[..at])
}

fn project(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::write(
        folder.path().join("Cargo.toml"),
        "[package]\nname = \"app\"\n[dependencies]\nredis = \"0.27\"\n",
    )
    .unwrap();
    fs::write(folder.path().join("src/lib.rs"), text).unwrap();
    folder
}

fn audit(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    command.arg("audit").args(arguments).current_dir(folder).output().unwrap()
}

fn text(folder: &Path, arguments: &[&str]) -> String {
    let output = audit(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_json_form_follows_its_schema() {
    let schema = Command::new(env!("CARGO_BIN_EXE_leaselint")).args(["schema", "audit"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for source in [BEFORE, &after(), "fn main() {}\n"] {
        let tree = project(source);
        let value: Value = serde_json::from_str(&text(tree.path(), &["--format", "json"])).unwrap();
        let violations: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(violations.is_empty(), "{violations:?}");
    }
}

#[test]
fn a_lock_is_listed_with_its_life_and_its_verdicts() {
    let tree = project(BEFORE);
    let value: Value = serde_json::from_str(&text(tree.path(), &["--format", "json"])).unwrap();
    let [lock] = value["locks"].as_array().unwrap().as_slice() else { panic!("{value}") };
    assert_eq!(lock["name"], "<b>&|`x`-lock:{}");
    assert_eq!(lock["lifetime"], "30 s");
    assert_eq!(lock["acquired"][0]["span"]["start"]["line"], 4);
    assert_eq!(lock["released"][0]["how"], "compares the owner, and frees it in a second step");
    assert_eq!(lock["checklist"][1]["verdict"], "fails");
    assert_eq!(lock["checklist"][1]["findings"][0]["rule"], "get-then-del");
    assert_eq!(lock["model"]["harms"], serde_json::json!(["foreign-release"]));
    let tree = project(&after());
    let value: Value = serde_json::from_str(&text(tree.path(), &["--format", "json"])).unwrap();
    assert_eq!(value["locks"][0]["checklist"][1]["verdict"], "holds", "{value}");
}

#[test]
fn nothing_foreign_becomes_markup() {
    let tree = project(BEFORE);
    let page = text(tree.path(), &["--format", "html"]);
    assert!(page.contains("&lt;b&gt;&amp;|") && !page.contains("<b>"), "{page}");
    for loads in ["<script", "<link", "src=", "url(", "@import", "<img", "<iframe"] {
        assert!(!page.contains(loads), "the page loads something: {loads}");
    }
    assert!(page.contains("<svg") && page.contains("frees the lock"), "the run is drawn");
    for tag in ["div", "table", "article", "details", "svg", "nav", "main"] {
        let (opened, closed) =
            (page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count());
        assert_eq!(opened, closed, "<{tag}>");
    }
    let markdown = text(tree.path(), &["--format", "markdown"]);
    assert!(markdown.contains("`<b>&\\|'x'-lock:{}`"), "{markdown}");
}

#[test]
fn required_items_are_a_gate() {
    let (bad, good) = (project(BEFORE), project(&after()));
    assert_eq!(audit(bad.path(), &["--require", "clock"]).status.code(), Some(0));
    let refused = audit(bad.path(), &["--require", "clock,atomic"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("atomic fails with 1 finding"));
    assert_eq!(audit(good.path(), &["--require", "clock,atomic"]).status.code(), Some(0));
    let open = audit(good.path(), &["--require", "shutdown"]);
    assert_eq!(open.status.code(), Some(1), "what cannot be told does not hold");
    assert_eq!(audit(good.path(), &["--require", "nothing"]).status.code(), Some(2));
}

#[test]
fn better_and_worse_since_a_revision() {
    let tree = project(BEFORE);
    git(tree.path(), &["init", "--quiet"]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "-m", "one"]);
    assert_eq!(text(tree.path(), &["--diff", "HEAD"]), "no lock is better or worse\n");
    fs::write(tree.path().join("src/lib.rs"), after()).unwrap();
    let said = text(tree.path(), &["--diff", "HEAD"]);
    assert!(said.starts_with("- better: ") && said.contains("atomic fails -> holds"), "{said}");
    let said = text(&tree.path().join("src"), &["--diff", "HEAD", "--format", "json"]);
    assert!(said.contains("\"change\": \"better\""), "{said}");
    git(tree.path(), &["commit", "--quiet", "-am", "two"]);
    fs::write(tree.path().join("src/lib.rs"), BEFORE).unwrap();
    assert!(text(tree.path(), &["--diff", "HEAD"]).starts_with("- worse: "));
    assert_eq!(audit(tree.path(), &["--diff", "no-such"]).status.code(), Some(2));
    let status =
        Command::new("git").args(["status", "--porcelain"]).current_dir(tree.path()).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&status.stdout).trim(),
        "M src/lib.rs",
        "git's own files are left alone"
    );
}

#[test]
#[ignore = "starts chromium; tests/run.sh asks for it"]
fn the_page_is_readable_by_day_by_night_on_a_telephone_and_on_paper() {
    let tree = project(BEFORE);
    let page = tree.path().join("locks.html");
    fs::write(&page, text(tree.path(), &["--format", "html"])).unwrap();
    let day = browser::picture(&page, 1000, 1600, false);
    let night = browser::picture(&page, 1000, 1600, true);
    let telephone = browser::picture(&page, 500, 1600, false);
    for (picture, ground, name) in [
        (&day, [255, 255, 255], "day"),
        (&night, [0x14, 0x18, 0x1d], "night"),
        (&telephone, [255, 255, 255], "telephone"),
    ] {
        assert_eq!(picture.at(2, 2), ground, "the ground of {name}");
        assert!(picture.colours() > 50, "{name} shows {} colours", picture.colours());
        assert!(picture.is_plain_at_the_edges(ground), "{name}: something is cut off at an edge");
        assert!(picture.inked(ground) > 0.01, "{name} is nearly empty");
    }
    let paper = browser::paper(&page);
    assert!(paper.starts_with(b"%PDF") && paper.len() > 10_000, "{} bytes", paper.len());
}
