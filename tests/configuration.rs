//! `leaselint.toml` and `[workspace.metadata.leaselint]`: each key changes what is found, and what is wrong is
//! told with its place.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

type Files<'a> = &'a [(&'a str, &'a str)];

fn tree(files: Files<'_>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn leaselint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leaselint")).args(arguments).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// `path:line rule severity` of each finding, sorted by place.
fn found(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = leaselint(folder, &[&["--format", "json"], arguments].concat());
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let each = report["findings"].as_array().unwrap().iter().map(|finding| {
        let line = &finding["span"]["start"]["line"];
        format!("{}:{line} {} {}", text(&finding["path"]), text(&finding["rule"]), text(&finding["severity"]))
    });
    each.collect()
}

/// What is found without a configuration and with this one.
fn without_and_with(files: Files<'_>, configuration: &str) -> (Vec<String>, Vec<String>) {
    let tree = tree(files);
    let without = found(tree.path(), &[]);
    fs::write(tree.path().join("leaselint.toml"), configuration).unwrap();
    (without, found(tree.path(), &[]))
}

const NOTHING: [&str; 0] = [];

/// A write that a stale holder can make, to a column whose name says nothing.
const SEATS: Files<'_> = &[
    (
        "migrations/0001_seats.sql",
        "CREATE TABLE seats (id BIGINT PRIMARY KEY, guest TEXT, turn_no BIGINT NOT NULL DEFAULT 0);\n",
    ),
    (
        "src/lib.rs",
        "pub async fn seat(pool: &sqlx::PgPool, id: i64, guest: &str) -> sqlx::Result<()> {\n    \
         sqlx::query(\"UPDATE seats SET guest = $2 WHERE id = $1\").bind(id).bind(guest).execute(pool).await?;\n    \
         Ok(())\n}\n",
    ),
];

#[test]
fn token_columns_are_fencing_tokens() {
    for columns in ["turn_no", "seats.turn_no", "Seats.TURN_NO"] {
        let (without, with) = without_and_with(SEATS, &format!("token-columns = [\"{columns}\"]\n"));
        assert_eq!(without, NOTHING);
        assert_eq!(with, ["src/lib.rs:2 unfenced-write error"], "{columns}");
    }
    assert_eq!(without_and_with(SEATS, "token-columns = [\"rooms.turn_no\"]\n").1, NOTHING);
}

#[test]
fn a_declared_token_column_is_judged_by_its_schema_too() {
    let files: Files<'_> = &[
        ("migrations/1_a.sql", "CREATE TABLE seats (id BIGINT PRIMARY KEY, guest TEXT, turn_no BIGINT);\n"),
        (
            "src/lib.rs",
            "pub async fn seat(pool: &sqlx::PgPool, id: i64, turn: i64) -> sqlx::Result<bool> {\n    \
             let done = sqlx::query(\"UPDATE seats SET guest = 'x', turn_no = $2 WHERE id = $1 AND turn_no < $2\").bind(id).bind(turn).execute(pool).await?;\n    \
             Ok(done.rows_affected() == 1)\n}\n",
        ),
    ];
    let (without, with) = without_and_with(files, "token-columns = [\"turn_no\"]\n");
    assert_eq!(without, NOTHING);
    assert_eq!(with, ["migrations/1_a.sql:1 nullable-token error"]);
}

#[test]
fn lock_tables_owner_and_expiry_columns_make_rows_locks() {
    let files: Files<'_> = &[
        (
            "migrations/0001_turns.sql",
            "CREATE TABLE turns (name TEXT PRIMARY KEY, taken_for TEXT NOT NULL, gone_after TIMESTAMPTZ NOT NULL);\n",
        ),
        (
            "src/lib.rs",
            "pub async fn give_back(pool: &sqlx::PgPool, name: &str) -> sqlx::Result<()> {\n    \
             sqlx::query(\"DELETE FROM turns WHERE name = $1\").bind(name).execute(pool).await?;\n    Ok(())\n}\n\n\
             pub async fn take(pool: &sqlx::PgPool, name: &str, me: &str) -> sqlx::Result<bool> {\n    \
             let done = sqlx::query(\"INSERT INTO turns (name, taken_for, gone_after) VALUES ($1, $2, now() + interval '30 s') ON CONFLICT (name) DO UPDATE SET taken_for = $2, gone_after = now() + interval '30 s' WHERE turns.gone_after < now()\").bind(name).bind(me).execute(pool).await?;\n    \
             Ok(done.rows_affected() == 1)\n}\n",
        ),
    ];
    let all =
        "lock-tables = [\"turns\"]\nowner-columns = [\"taken_for\"]\nexpiry-columns = [\"gone_after\"]\n";
    let (without, with) = without_and_with(files, all);
    assert_eq!(without, NOTHING);
    assert_eq!(with, ["src/lib.rs:2 unguarded-release error"]);
}

#[test]
fn an_owner_column_makes_its_table_one_of_claims() {
    let files: Files<'_> = &[(
        "migrations/0001_turn_locks.sql",
        "CREATE TABLE turn_locks (name TEXT PRIMARY KEY, taken_for TEXT NOT NULL);\n",
    )];
    let (without, with) = without_and_with(files, "owner-columns = [\"taken_for\"]\n");
    assert_eq!(without, NOTHING);
    assert_eq!(with, ["migrations/0001_turn_locks.sql:1 lock-without-ttl warning"]);
    let both = "owner-columns = [\"taken_for\"]\nexpiry-columns = [\"gone\"]\n";
    let ending: Files<'_> = &[(
        "migrations/0001_turn_locks.sql",
        "CREATE TABLE turn_locks (name TEXT PRIMARY KEY, taken_for TEXT NOT NULL, gone BIGINT NOT NULL);\n",
    )];
    assert_eq!(without_and_with(ending, "owner-columns = [\"taken_for\"]\n").1.len(), 1);
    assert_eq!(without_and_with(ending, both).1, NOTHING, "the expiry column ends the row");
}

#[test]
fn lock_keys_are_locks() {
    let files: Files<'_> = &[(
        "src/lib.rs",
        "use redis::AsyncCommands;\n\n\
         pub async fn report(conn: &mut redis::aio::ConnectionManager, day: &str) -> redis::RedisResult<()> {\n    \
         let _: Option<String> = redis::cmd(\"SET\").arg(format!(\"report:{day}\")).arg(1).arg(\"NX\").arg(\"EX\").arg(30).query_async(conn).await?;\n    \
         Ok(())\n}\n\n\
         pub async fn again(conn: &mut redis::aio::ConnectionManager, day: &str) -> redis::RedisResult<()> {\n    \
         conn.del::<_, ()>(format!(\"report:{day}\")).await\n}\n",
    )];
    for key in ["report:{}", "report:*", "*"] {
        let (without, with) = without_and_with(files, &format!("lock-keys = [\"{key}\"]\n"));
        assert_eq!(without, NOTHING);
        assert!(with.contains(&"src/lib.rs:9 unguarded-release error".to_owned()), "{key}: {with:?}");
    }
    assert_eq!(without_and_with(files, "lock-keys = [\"reports:*\"]\n").1, NOTHING);
}

#[test]
fn signal_crates_handle_sigterm() {
    let files: Files<'_> = &[
        ("Cargo.toml", "[package]\nname = \"worker\"\n[dependencies]\nredis = \"0.27\"\nacme-boot = \"1\"\n"),
        (
            "src/main.rs",
            "use redis::Commands;\n\nfn main() -> redis::RedisResult<()> {\n    acme_boot::install();\n    \
             let mut conn = redis::Client::open(\"redis://localhost\")?.get_connection()?;\n    \
             let owner = uuid::Uuid::new_v4().to_string();\n    \
             let won: Option<String> = redis::cmd(\"SET\").arg(\"job-lock\").arg(&owner).arg(\"NX\").arg(\"EX\").arg(30).query(&mut conn)?;\n    \
             if won.is_none() {\n        return Ok(());\n    }\n    \
             let script = redis::Script::new(\"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0\");\n    \
             let freed: i64 = script.key(\"job-lock\").arg(&owner).invoke(&mut conn)?;\n    println!(\"{freed}\");\n    Ok(())\n}\n",
        ),
    ];
    let (without, with) = without_and_with(files, "signal-crates = [\"acme-boot\"]\n");
    assert_eq!(without, ["src/main.rs:3 missing-sigterm warning"]);
    assert_eq!(with, NOTHING);
}

#[test]
fn migrations_name_the_folders_of_a_history() {
    let files: Files<'_> = &[
        (
            "store/steps/seats.sql",
            "CREATE TABLE seats (id BIGINT PRIMARY KEY, guest TEXT, fencing_token BIGINT);\n",
        ),
        (
            "src/lib.rs",
            "pub async fn seat(pool: &sqlx::PgPool, id: i64, token: i64) -> sqlx::Result<bool> {\n    \
             let done = sqlx::query(\"UPDATE seats SET guest = 'x', fencing_token = $2 WHERE id = $1 AND fencing_token < $2\").bind(id).bind(token).execute(pool).await?;\n    \
             Ok(done.rows_affected() == 1)\n}\n",
        ),
    ];
    let (without, with) = without_and_with(files, "migrations = [\"store/steps\"]\n");
    assert_eq!(without, NOTHING);
    assert_eq!(with, ["store/steps/seats.sql:1 nullable-token error"]);
}

#[test]
fn the_dialect_decides_how_sql_is_read() {
    // NOT NULL without a default: MySQL gives old rows 0, PostgreSQL refuses the migration.
    let files: Files<'_> = &[
        ("migrations/0001_seats.sql", "CREATE TABLE seats (id BIGINT PRIMARY KEY, guest TEXT);\n"),
        ("migrations/0002_token.sql", "ALTER TABLE seats ADD COLUMN fencing_token BIGINT NOT NULL;\n"),
    ];
    let finding = ["migrations/0002_token.sql:1 token-without-default warning"];
    let (without, with) = without_and_with(files, "dialect = \"mysql\"\n");
    assert_eq!((without, with), (finding.map(str::to_owned).to_vec(), Vec::new()));
    let of_path = "dialect = \"mysql\"\n[[path]]\npaths = [\"migrations/\"]\ndialect = \"postgresql\"\n";
    assert_eq!(without_and_with(files, of_path).1, finding);
}

const ILLEGIBLE: Files<'_> =
    &[("a.sql", "-- leaselint\0\nSELECT ;;(\n"), ("old/b.rs", "fn a( {"), ("src/c.rs", "fn a( { UPDATE ")];

#[test]
fn rules_are_selected_and_given_levels_for_the_whole_and_for_paths() {
    let files: Files<'_> = &[SEATS[0], SEATS[1], ("old/src/lib.rs", SEATS[1].1)];
    let token = "token-columns = [\"turn_no\"]\n";
    let with = |rest: &str| without_and_with(files, &format!("{token}{rest}")).1;
    let (new, old) = ("src/lib.rs:2 unfenced-write error", "old/src/lib.rs:2 unfenced-write error");
    assert_eq!(with(""), [old, new]);
    assert_eq!(with("select = [\"release\"]\n"), NOTHING);
    assert_eq!(with("select = [\"fence\"]\n"), [old, new]);
    assert_eq!(with("ignore = [\"unfenced-write\"]\n"), NOTHING);
    assert_eq!(with("[levels]\nunfenced-write = \"off\"\n"), NOTHING);
    assert_eq!(with("[levels]\nunfenced-write = \"info\"\n"), NOTHING, "infos are shown on demand");
    let warning = [old, new].map(|line| line.replace("error", "warning"));
    assert_eq!(with("[levels]\nfence = \"warning\"\n"), warning);
    assert_eq!(with("[levels]\nfence = \"off\"\nunfenced-write = \"warning\"\n"), warning);
    assert_eq!(with("[[path]]\npaths = [\"old/\"]\nignore = [\"fence\"]\n"), [new]);
    let narrowed =
        "[levels]\nfence = \"off\"\n[[path]]\npaths = [\"old/\"]\nlevels = { fence = \"error\" }\n";
    assert_eq!(with(narrowed), [old]);
    assert_eq!(with("exclude = [\"/old/\"]\n"), [new]);
}

#[test]
fn flags_take_the_place_of_the_keys_of_their_names() {
    let tree = tree(&[
        SEATS[0],
        SEATS[1],
        ("leaselint.toml", "token-columns = [\"turn_no\"]\nselect = [\"release\"]\nignore = [\"fence\"]\n"),
    ]);
    assert_eq!(found(tree.path(), &[]), NOTHING);
    assert_eq!(found(tree.path(), &["--select", "unfenced-write"]).len(), 1);
    assert_eq!(found(tree.path(), &["--select", "fence", "--ignore", "release"]).len(), 1);
}

#[test]
fn excluded_files_are_skipped_even_when_they_are_named() {
    let tree = tree(&[ILLEGIBLE[2], ("leaselint.toml", "exclude = [\"src/\"]\n")]);
    let output = leaselint(tree.path(), &["src/c.rs"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).contains("src/c.rs is skipped: the configuration excludes it"),
        "{}",
        stderr(&output)
    );
    assert_eq!(found(tree.path(), &[]), NOTHING);
}

#[test]
fn a_workspace_s_manifest_may_hold_the_configuration() {
    let manifest =
        "[workspace]\nmembers = []\n\n[workspace.metadata.leaselint]\ntoken-columns = [\"turn_no\"]\n";
    let tree = tree(&[SEATS[0], SEATS[1], ("Cargo.toml", manifest)]);
    assert_eq!(found(tree.path(), &[]), ["src/lib.rs:2 unfenced-write error"]);
    assert_eq!(found(&tree.path().join("src"), &["lib.rs"]).len(), 1, "the nearest one above");
    fs::write(tree.path().join("Cargo.toml"), manifest.replace("token-columns", "token-colums")).unwrap();
    let wrong = leaselint(tree.path(), &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("Cargo.toml:5:1: unknown field `token-colums`"), "{}", stderr(&wrong));
    assert!(stderr(&wrong).contains("did you mean `token-columns`?"), "{}", stderr(&wrong));
    fs::write(tree.path().join("Cargo.toml"), manifest).unwrap();
    fs::write(tree.path().join("leaselint.toml"), "").unwrap();
    let twice = leaselint(tree.path(), &[]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("both configure leaselint"), "{}", stderr(&twice));
}

#[test]
fn of_two_projects_each_has_its_own_say() {
    let tree = tree(&[
        ("one/migrations/0001.sql", SEATS[0].1),
        ("one/src/lib.rs", SEATS[1].1),
        ("one/leaselint.toml", "token-columns = [\"turn_no\"]\n"),
        ("two/migrations/0001.sql", SEATS[0].1),
        ("two/src/lib.rs", SEATS[1].1),
        ("two/leaselint.toml", "ignore = [\"fence\"]\n"),
    ]);
    assert_eq!(found(tree.path(), &["one", "two"]), ["one/src/lib.rs:2 unfenced-write error"]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, place, part) in [
        ("selct = []\n", "1:1", "did you mean `select`?"),
        ("select = [\n  \"release\",\n  \"get-then-dell\",\n]\n", "3:3", "did you mean `get-then-del`?"),
        ("ignore = [\"nonsense-rule\"]\n", "1:11", "there is no rule or group `nonsense-rule`"),
        ("[levels]\nrelese = \"off\"\n", "2:1", "did you mean `release`?"),
        ("[levels]\nrelease = \"eror\"\n", "2:11", "did you mean `error`?"),
        ("dialect = \"postgress\"\n", "1:11", "did you mean `postgres`?"),
        ("exclude = [\"[z-a]\"]\n", "1:12", "pattern"),
        ("[[path]]\nignore = []\n", "1:1", "missing field `paths`"),
        ("[[path]]\npaths = []\nselect = []\n", "3:1", "unknown field `select`"),
        ("token-columns = \"a\"\n", "1:17", "expected a sequence"),
        ("select = [\n", "", "leaselint.toml:"),
    ] {
        let tree = tree(&[("src/lib.rs", ""), ("leaselint.toml", text)]);
        let output = leaselint(tree.path(), &["src"]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let told = stderr(&output);
        assert!(told.contains(&format!("leaselint.toml:{place}")) && told.contains(part), "{text}: {told}");
        assert!(output.stdout.is_empty() && told.lines().count() == 1, "{text}: {told}");
    }
}

#[test]
fn a_configuration_that_is_a_folder_is_told() {
    let tree = tree(&[("src/lib.rs", ""), ("leaselint.toml/a", "")]);
    let output = leaselint(tree.path(), &["src"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read leaselint.toml"), "{}", stderr(&output));
}

#[test]
fn the_configuration_and_the_files_are_shown() {
    let text = "ignore = [\"fence\"]\nexclude = [\"/made/\"]\n\n[levels]\nrelease = \"warning\"\n";
    let tree =
        tree(&[("leaselint.toml", text), SEATS[1], ("made/a.rs", ""), ("tests/b.rs", ""), ("a.lua", "")]);
    let shown = leaselint(tree.path(), &["--show-config"]);
    assert_eq!(shown.status.code(), Some(0));
    assert_eq!(String::from_utf8(shown.stdout).unwrap(), format!("# leaselint.toml\n{text}"));
    let files = leaselint(tree.path(), &["--show-files"]);
    assert_eq!(String::from_utf8(files.stdout).unwrap(), "a.lua\nsrc/lib.rs\n");
    let none = tempfile::tempdir().unwrap();
    fs::create_dir(none.path().join(".git")).unwrap();
    let shown = String::from_utf8(leaselint(none.path(), &["--show-config"]).stdout).unwrap();
    assert!(shown.starts_with("# no leaselint.toml"), "{shown}");
}

/// Everything that may stand in a configuration.
const ALL: &str = r#"
select = ["release", "fence"]
ignore = ["unfenced-write"]
exclude = ["made/"]
dialect = "postgres"
migrations = ["db/steps"]
baseline = "known.json"
token-columns = ["turn_no"]
owner-columns = ["taken_for"]
expiry-columns = ["gone_after"]
lock-tables = ["turns"]
lock-keys = ["turn:{}"]
compare-and-delete = "delex"
signal-crates = ["acme-shutdown"]

[levels]
release = "warning"
get-then-del = "off"

[[path]]
paths = ["old/"]
ignore = ["fence"]
dialect = "mysql"
levels = { release = "info" }

[[client]]
name = "acme-store"
connections = ["MyStore"]

[[client.method]]
names = ["drop_key"]
action = "delete"
key = 0
"#;

#[test]
fn the_schema_and_the_form_agree() {
    let schema: Value =
        serde_json::from_slice(&leaselint(Path::new("."), &["schema", "config"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let as_json = |text: &str| serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
    assert!(validator.is_valid(&as_json(ALL)), "{:?}", validator.iter_errors(&as_json(ALL)).next());
    for wrong in ["selct = []", "dialect = \"oracle\"", "[levels]\na = \"fatal\"", "[[path]]\nignore = []"] {
        assert!(!validator.is_valid(&as_json(wrong)), "{wrong}");
    }
    let described: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let all = as_json(ALL);
    assert_eq!(described, all.as_object().unwrap().keys().collect::<Vec<_>>(), "every key is described");
    let of_path: Vec<&String> =
        schema["properties"]["path"]["items"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(of_path, all["path"][0].as_object().unwrap().keys().collect::<Vec<_>>());
    // What is described is what is read: an unknown key makes the parser list all that it knows.
    let tree = tree(&[("src/lib.rs", ""), ("leaselint.toml", "zzz = 1\n")]);
    let told = stderr(&leaselint(tree.path(), &[]));
    for key in described {
        assert!(told.contains(&format!("`{key}`")), "{key}: {told}");
    }
    fs::write(tree.path().join("leaselint.toml"), ALL).unwrap();
    let shown = leaselint(tree.path(), &["--show-config"]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
}

#[test]
fn the_documentation_names_every_key_and_its_example_is_valid() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md")).unwrap();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let tree = tree(&[
        ("src/lib.rs", ""),
        ("leaselint.toml", example),
        ("leaselint-baseline.json", "{\"schema\":1,\"findings\":[]}"),
    ]);
    let output = leaselint(tree.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for key in toml::from_str::<toml::Table>(ALL).unwrap().keys() {
        assert!(page.contains(&format!("`{key}`")) && example.contains(key), "{key} is not described");
    }
}
