//! The guard logic's idea of SQL against real servers: every form that it accepts must refuse a stale token
//! there, and every form that it calls loose must let a stale write through. PostgreSQL, MariaDB and SQLite
//! are started by the tests, so they are ignored unless asked for:
//! `cargo test --release --test databases -- --include-ignored`.

#![cfg(unix)]

#[path = "databases/forms.rs"]
mod forms;
#[path = "databases/servers.rs"]
mod servers;
#[allow(dead_code, reason = "each test reads other parts of a report")]
mod tool;
#[path = "databases/triggers.rs"]
mod triggers;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use forms::World;
use leaselint::facts::sql::{CteBody, Dialect, StatementKind, TableName, Write};
use leaselint::locks::guard::{GuardKind, LooseReason, Question, Verdict, judge};
use servers::Server;

/// The tokens that a writer presents to a row that was last written under 34.
const STALE: i64 = 33;
const SAME: i64 = 34;
const NEWER: i64 = 35;
/// For sequential experiments: 34 has taken over everything.
const TAKEN_OVER: World = World { row: SAME, lease: SAME, fence: SAME };
/// For races: the lease is still 33's; it has not written the row yet, or it has.
const STILL_HELD: [World; 2] =
    [World { row: 32, lease: STALE, fence: 32 }, World { row: STALE, lease: STALE, fence: STALE }];

fn verdict(form: &str, dialect: Dialect) -> Verdict {
    let text = if dialect == Dialect::MySql { question_marks(form) } else { form.to_owned() };
    let parsed = leaselint::sql::parse(&text, dialect);
    assert!(parsed.statements.len() == 1 && parsed.statements[0].parsed, "does not parse: {text}");
    let StatementKind::Write(write) = &parsed.statements[0].kind else { panic!("not a write: {text}") };
    let has_column = |table: &TableName, column: &str| {
        forms::columns_of(&table.name).map(|columns| columns.contains(&column))
    };
    let write = write_of_the_row(write);
    judge(Question { write, dialect, column: "t", outer_ctes: &[], has_column: &has_column })
}

/// The statement itself, or the CTE in it that writes the fenced row.
fn write_of_the_row(write: &Write) -> &Write {
    let nested = write.ctes.iter().find_map(|cte| match &cte.body {
        CteBody::Write(inner) if write.table.name != "a" && inner.table.name == "a" => Some(&**inner),
        _ => None,
    });
    nested.unwrap_or(write)
}

fn question_marks(form: &str) -> String {
    ["$1", "$2", "$3", "$4", "$5"].iter().fold(form.to_owned(), |text, bind| text.replace(bind, "?"))
}

/// The form with values in place of its binds.
fn with_values(form: &str, token: i64) -> String {
    form.replace("$1", "1")
        .replace("$2", &token.to_string())
        .replace("$3", "7")
        .replace("$4", "true")
        .replace("$5", "'lock'")
}

/// Which of the three tokens the server lets write, one after the other and each on a fresh row.
struct Sequential {
    stale: bool,
    same: bool,
    newer: bool,
}

fn run_sequentially(server: &Server, forms: &[String]) -> Vec<Sequential> {
    let mut script = forms::SCHEMA.to_owned();
    for form in forms {
        for token in [STALE, SAME, NEWER] {
            script.push_str(&forms::reset(TAKEN_OVER));
            script.push_str(&with_values(form, token));
            script.push_str(";\n");
            script.push_str(forms::WRITTEN);
            script.push('\n');
        }
    }
    let (lines, complaint) = server.script(&script);
    assert!(complaint.is_empty(), "{complaint}");
    assert_eq!(lines.len(), forms.len() * 3, "one answer for each experiment");
    let written = |line: &String| line == "1";
    lines
        .chunks(3)
        .map(|c| Sequential { stale: written(&c[0]), same: written(&c[1]), newer: written(&c[2]) })
        .collect()
}

/// What is wrong with the verdict in the light of what the server did, if anything. `wins_race` is whether a
/// stale write got through after it had waited for its successor; `None` where the server knows no such race.
fn contradiction(verdict: &Verdict, seen: &Sequential, wins_race: Option<bool>) -> Option<&'static str> {
    let Sequential { stale, same, newer } = *seen;
    match verdict {
        Verdict::Guarded(_) if stale => Some("accepted, but a stale write gets through"),
        Verdict::Guarded(_) if wins_race == Some(true) => Some("accepted, but a stale write wins a race"),
        Verdict::Guarded(guard) => match guard.how {
            GuardKind::Less if same || !newer => Some("`<` takes a newer token only"),
            GuardKind::LessOrEqual if !same || !newer => Some("`<=` takes the same token and a newer one"),
            GuardKind::Equal if !same => Some("`=` takes the same token"),
            GuardKind::OtherRow if !same && !newer => Some("it refuses everybody"),
            _ => None,
        },
        // Compared with itself, the token decides nothing: everybody passes or nobody does.
        Verdict::Loose(loose) if loose.reason == LooseReason::SetBeforeCompared => {
            (stale != newer || stale != same).then_some("the comparison depends on the stored token")
        }
        Verdict::Loose(_) | Verdict::Absent if !stale && wins_race != Some(true) => {
            Some("called loose, but no stale write gets through")
        }
        Verdict::Loose(_) | Verdict::Absent => None,
    }
}

/// A new holder writes row, lease and fence under 34 in a transaction; the old one, whose token is 33, sends
/// its write meanwhile, waits for the row, and goes on when the new holder has committed.
fn stale_write_wins_the_race(server: &Server, form: &str, world: World) -> bool {
    let (_, complaint) = server.script(&forms::reset(world));
    assert!(complaint.is_empty(), "{complaint}");
    let mut successor = server.session();
    successor.send(&format!(
        "BEGIN; UPDATE leases SET fencing_token = {SAME} WHERE name = 'lock'; UPDATE fences SET token = {SAME} \
         WHERE name = 'lock'; UPDATE keyless SET t = {SAME}; UPDATE a SET t = {SAME}, x = 7 WHERE id = 1;"
    ));
    wait_until_uncommitted(server);
    let mut paused = server.session();
    paused.send(&format!("{};", with_values(form, STALE)));
    paused.close_input();
    let begun = Instant::now();
    while !paused.has_ended() && !server.somebody_waits() {
        assert!(begun.elapsed() < Duration::from_secs(20), "neither done nor waiting: {form}");
    }
    successor.send("COMMIT;");
    successor.finish();
    paused.finish();
    let (lines, complaint) = server.script(forms::WRITTEN);
    assert!(complaint.is_empty(), "{complaint}");
    lines[0] == "1"
}

/// Waits until the successor's transaction has locked the row: a second writer that may not wait is refused.
fn wait_until_uncommitted(server: &Server) {
    let begun = Instant::now();
    loop {
        if !server.script("SELECT id FROM a WHERE id = 1 FOR UPDATE NOWAIT;").1.is_empty() {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "the successor does not begin");
    }
}

fn agrees(server: &Server, kinds: &[&str]) {
    let forms = forms::of(server.dialect);
    let verdicts: Vec<Verdict> = forms.iter().map(|form| verdict(form, server.dialect)).collect();
    let mut wrong = Vec::new();
    for ((form, verdict), seen) in forms.iter().zip(&verdicts).zip(run_sequentially(server, &forms)) {
        // SQLite has one writer at a time.
        let wins_race = (server.dialect != Dialect::Sqlite)
            .then(|| STILL_HELD.iter().any(|&world| stale_write_wins_the_race(server, form, world)));
        if let Some(why) = contradiction(verdict, &seen, wins_race) {
            wrong.push(format!("{why} ({}): {form}", name(verdict)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let seen: BTreeSet<String> = verdicts.iter().map(name).collect();
    let wanted: BTreeSet<String> = EVERYWHERE.iter().chain(kinds).map(|&k| k.to_owned()).collect();
    assert_eq!(seen, wanted, "the forms no longer cover what the guard logic tells apart");
}

fn name(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Guarded(guard) => format!("{:?}", guard.how),
        Verdict::Loose(loose) => format!("{:?}", loose.reason),
        Verdict::Absent => "Absent".to_owned(),
    }
}

/// Whether the linter has nothing to say of the write, nor of the migration with the trigger beside it.
fn linter_accepts(dialect: Dialect, trigger: &str, write: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let feature = match dialect {
        Dialect::Postgres => "postgres",
        Dialect::MySql => "mysql",
        _ => "sqlite",
    };
    let manifest = format!(
        "[package]\nname = \"bank\"\nedition = \"2024\"\n[dependencies]\nsqlx = {{ version = \"0.8\", features = \
         [\"{feature}\"] }}\n"
    );
    let write = if dialect == Dialect::MySql { question_marks(write) } else { write.to_owned() };
    let source = format!(
        "pub async fn pay(pool: &Pool, id: i64, token: i64) -> Result<bool, sqlx::Error> {{\n    let done = \
         sqlx::query(\"{write}\").bind(id).bind(token).execute(pool).await?;\n    Ok(done.rows_affected() == 1)\n}}\n"
    );
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("the file can be written");
    };
    put("Cargo.toml", &manifest);
    put("src/lib.rs", &source);
    put("migrations/0001_accounts.sql", &format!("{}{trigger}", triggers::TABLE));
    let findings = tool::check(folder.path(), Duration::from_secs(60)).expect("the linter answers");
    findings.is_empty()
}

/// Whether the server refuses a stale token under the trigger.
fn server_refuses(server: &Server, trigger: &str, write: &str) -> bool {
    let clean = match server.dialect {
        Dialect::Postgres => "DROP TABLE IF EXISTS accounts; DROP FUNCTION IF EXISTS judge_token();",
        _ => "DROP TABLE IF EXISTS accounts;",
    };
    let setup = format!(
        "{clean}\n{}{trigger}INSERT INTO accounts VALUES (1, 0, {SAME});\nSELECT count(*) FROM accounts;",
        triggers::TABLE
    );
    let (lines, complaint) = server.script(&setup);
    assert_eq!(lines, ["1"], "{complaint}");
    server.script(&format!("{};", with_values(write, STALE)));
    let (lines, complaint) = server.script("SELECT balance FROM accounts;");
    assert!(complaint.is_empty(), "{complaint}");
    lines == ["0"]
}

fn triggers_agree(server: &Server) {
    let mut wrong = Vec::new();
    let mut refused = 0;
    let triggers = triggers::of(server.dialect);
    for trigger in &triggers {
        for write in triggers::WRITES {
            let refuses = server_refuses(server, trigger, write);
            refused += usize::from(refuses);
            if linter_accepts(server.dialect, trigger, write) != refuses {
                let said = if refuses { "reported, but refused" } else { "accepted, but it gets through" };
                wrong.push(format!("{said}: {write}\n{trigger}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(refused > 2 && refused < triggers.len() * 2, "both kinds of trigger are among them");
}

const EVERYWHERE: [&str; 12] = [
    "Absent",
    "Constant",
    "Equal",
    "Itself",
    "Less",
    "LessOrEqual",
    "NotEqual",
    "OrAround",
    "OtherRow",
    "OtherTable",
    "SetOnly",
    "WrongWay",
];

#[test]
#[ignore = "starts a PostgreSQL server"]
fn postgres_agrees() {
    let server = Server::postgres();
    agrees(&server, &["ConflictTarget", "MergeOn", "Uncorrelated", "Unlocked", "UnlockedOther"]);
    triggers_agree(&server);
}

#[test]
#[ignore = "starts a MariaDB server"]
fn mariadb_agrees() {
    let server = Server::mariadb();
    agrees(&server, &["SetBeforeCompared", "SomeAssignments"]);
    triggers_agree(&server);
}

#[test]
#[ignore = "needs the sqlite3 shell"]
fn sqlite_agrees() {
    let server = Server::sqlite();
    agrees(&server, &["ConflictTarget"]);
    triggers_agree(&server);
}
