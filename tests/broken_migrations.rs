//! Histories that are broken somewhere: what is broken is told, and the rest is judged all the same.
//!
//! Each history holds, behind what is broken, a table that a rule reports.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// What `nullable-token` reports.
const JUDGED: &str = "CREATE TABLE accounts (id bigint PRIMARY KEY, total bigint, fencing_token bigint);\n\
                      UPDATE accounts SET fencing_token = 0 WHERE fencing_token IS NULL;\n";

struct Run {
    /// (path, line, rule, message)
    findings: Vec<(String, u64, String, String)>,
    stderr: String,
}

impl Run {
    fn judges_the_rest(&self) -> bool {
        self.findings.iter().any(|(.., rule, _)| rule == "nullable-token")
    }

    /// The breaks that are told, as (path, line, message).
    fn breaks(&self) -> Vec<(&str, u64, &str)> {
        let told = self.findings.iter().filter(|(.., rule, _)| rule == "unreadable-input");
        told.map(|(path, line, _, message)| (path.as_str(), *line, message.as_str())).collect()
    }
}

fn check(files: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .current_dir(folder.path())
        .args(["check", "--format", "json", "--verbose", "--pedantic", "."])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter().map(|finding| {
        let text = |name: &str| finding[name].as_str().unwrap().to_owned();
        let line = finding["span"]["start"]["line"].as_u64().unwrap();
        (text("path"), line, text("rule"), text("message"))
    });
    Run { findings: findings.collect(), stderr }
}

fn migration(broken: &str) -> Run {
    check(&[("migrations/0001_init.sql", &format!("{broken}{JUDGED}"))])
}

#[test]
fn sound_histories_have_nothing_to_tell() {
    let run = migration("CREATE TABLE b (c int);\n");
    assert!(run.judges_the_rest(), "{:?}", run.findings);
    assert_eq!(run.breaks(), []);
}

#[test]
fn statements_behind_a_syntax_error_are_judged() {
    for (broken, line, words) in [
        ("UPDATE a SET SET WHERE;\n", 1, "cannot be parsed"),
        ("CREATE TABLE b (\n  c int,\n  d int;\n", 1, "parenthesis that never closes"),
        ("CREATE TABLE b (c int)\n", 1, "without its semicolon"),
        (
            "SELECT 1;\nALTER TABLE b DROP CONSTRAINT c\nALTER TABLE b ADD COLUMN d int;\n",
            2,
            "without its semicolon",
        ),
        ("UPDATE b SET c = 'open;\n", 1, "quote that never ends"),
        ("INSERT INTO b (c) VALUES ('open);\n", 1, "quote that never ends"),
    ] {
        let run = migration(broken);
        assert!(run.judges_the_rest(), "{broken}: {:?}", run.findings);
        let [(_, at, message)] = run.breaks()[..] else { panic!("{broken}: {:?}", run.breaks()) };
        assert!(at == line && message.contains(words), "{broken}: {at}: {message}");
    }
}

/// What may be another tool's or another database's is no break, and hides nothing.
#[test]
fn what_the_grammar_lacks_is_no_break() {
    for strange in [
        "DROP TABLE IF EXISTS a ON CLUSTER b SYNC;\n",
        "CREATE TABLE [b] ([c] nvarchar(10));\n",
        "ALTER TABLE ${prefix}b FROB c;\n",
        "UPDATE {{ table }} SET {{ values }};\n",
        "CREATE INDEX i ON b USING gist (c gist_trgm_ops(siglen=256));\n",
        "ALTER TABLE b ALTER CONSTRAINT c NOT DEFERRABLE;\n",
        "# a remark of some client\n",
    ] {
        let run = migration(strange);
        assert!(run.judges_the_rest(), "{strange}: {:?}", run.findings);
        assert_eq!(run.breaks(), [], "{strange}");
    }
}

#[test]
fn half_a_migration() {
    for (half, words) in [
        ("CREATE TABLE b (\n  c int NOT NULL,\n", "parenthesis that never closes"),
        ("CREATE TRIGGER t BEFORE UPDATE ON b BEGIN\n  UPDATE c SET d = 1;\n", "BEGIN without its END"),
        ("-- +goose StatementBegin\nSELECT 1;\n", "StatementBegin without its StatementEnd"),
        ("COPY b FROM stdin;\n1\tx\n", "COPY whose data has no end"),
        ("INSERT INTO b VALUES (1, 'x'), (2,\n", "parenthesis that never closes"),
    ] {
        let run = check(&[
            ("migrations/0001_init.sql", &format!("-- +goose Up\n{JUDGED}{half}")),
            ("migrations/0002_more.sql", "-- +goose Up\nALTER TABLE accounts ADD COLUMN note text;\n"),
        ]);
        assert!(run.judges_the_rest(), "{half}: {:?}", run.findings);
        let [("migrations/0001_init.sql", _, message)] = run.breaks()[..] else {
            panic!("{half}: {:?}", run.breaks())
        };
        assert!(message.contains(words), "{half}: {message}");
    }
    let down_alone = check(&[
        ("migrations/0001_init.up.sql", JUDGED),
        ("migrations/0002_more.down.sql", "DROP TABLE accounts;\n"),
    ]);
    assert!(down_alone.judges_the_rest(), "a step that is not applied takes nothing away");
}

#[test]
fn two_migrations_with_one_version() {
    let doubled = "has the version of";
    for [first, second] in [
        ["migrations/V2__a.sql", "migrations/V2__b.sql"],
        ["migrations/0002_a.up.sql", "migrations/0002_b.up.sql"],
    ] {
        let run = check(&[
            ("migrations/V1__init.sql", JUDGED),
            (first, "CREATE TABLE b (c int);\n"),
            (second, "CREATE TABLE d (e int);\n"),
        ]);
        assert!(run.judges_the_rest(), "{:?}", run.findings);
        assert!(run.stderr.contains(&format!("{second} {doubled} {first}")), "{}", run.stderr);
    }
    for [first, second] in [
        ["migrations/0002_a.up.sql", "migrations/0002_a.down.sql"],
        ["migrations/0002_a.mysql.up.sql", "migrations/0002_a.postgres.up.sql"],
        ["initdb/01_a.sql", "initdb/01_b.sql"],
        ["migrations/R__a.sql", "migrations/R__b.sql"],
    ] {
        let run = check(&[(first, "SELECT 1;\n"), (second, "SELECT 2;\n")]);
        assert!(!run.stderr.contains(doubled), "{}", run.stderr);
    }
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[dependencies]\nsqlx = \"0.8\"\n";
    let run = check(&[
        ("Cargo.toml", manifest),
        ("migrations/1_a.sql", "SELECT 1;\n"),
        ("migrations/1_b.sql", "SELECT 2;\n"),
    ]);
    assert!(
        run.stderr.contains("migrations/1_b.sql has the version of migrations/1_a.sql"),
        "{}",
        run.stderr
    );
}

#[test]
fn ten_megabytes_of_rows() {
    let mut dump = String::new();
    for n in 0..120_000 {
        writeln!(
            dump,
            "INSERT INTO b (c, d, e) VALUES ({n}, 'a text; of row {n} -- and more', NULL), (-1, 'x', 2.5);"
        )
        .unwrap();
    }
    assert!(dump.len() > 10_000_000);
    let started = Instant::now();
    let run = migration(&dump);
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    assert!(run.judges_the_rest(), "{:?}", run.findings);
    assert_eq!(run.breaks(), []);
    assert!(run.stderr.contains("120002 statements in SQL files, 120002 parsed"), "{}", run.stderr);
}

#[test]
fn verbose_counts_and_places_what_was_not_parsed() {
    let run = migration("VACUUM;\nDROP TABLE IF EXISTS b ON CLUSTER c;\nFROBNICATE TABLE (((;\n");
    let counts = "PostgreSQL: 5 statements in SQL files, 2 parsed, 2 sorted by their words, 1 unread";
    assert!(run.stderr.contains(counts), "{}", run.stderr);
    let places = [
        "migrations/0001_init.sql:2:1: this statement could not be parsed and was read by its words",
        "migrations/0001_init.sql:3:1: this statement could not be read",
    ];
    assert!(places.iter().all(|place| run.stderr.contains(place)), "{}", run.stderr);
}
