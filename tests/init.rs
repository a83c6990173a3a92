//! `leaselint init` on projects as they are: what it writes is what a check reads, it finds what a person would have
//! to write down, and what exists already stays.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

type Files<'a> = &'a [(&'a str, &'a str)];

fn project(files: Files<'_>) -> tempfile::TempDir {
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

/// What `init` has written.
fn initialised(folder: &Path) -> String {
    let output = leaselint(folder, &["init"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(output.stdout.is_empty() && stderr(&output).contains("wrote leaselint.toml"));
    fs::read_to_string(folder.join("leaselint.toml")).unwrap()
}

/// `path:line rule` of each finding.
fn found(folder: &Path) -> Vec<String> {
    let output = leaselint(folder, &["--format", "json"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings
        .map(|finding| {
            let line = &finding["span"]["start"]["line"];
            format!("{}:{line} {}", text(&finding["path"]), text(&finding["rule"]))
        })
        .collect()
}

const NOTHING: [&str; 0] = [];

/// Takes the `#` of the proposals away, as their text says.
fn taken(configuration: &str) -> String {
    let mut taken = String::new();
    let mut in_proposal = false;
    for line in configuration.lines() {
        in_proposal = (in_proposal || line == "# [[client]]") && line.starts_with('#');
        let bare = line.strip_prefix("# ").or_else(|| line.strip_prefix('#')).unwrap_or(line);
        taken += if in_proposal { bare } else { line };
        taken.push('\n');
    }
    taken
}

const MANIFEST: &str = "[package]\nname = \"app\"\n[dependencies]\nacme-store = \"2\"\n";

/// The library's source is not there, so that nothing shows what its calls do.
const WRAPPED: &str = "use std::sync::Arc;\nuse std::time::Duration;\n\nuse acme_store::{MyStore, hold};\n\n\
    pub struct Jobs { store: Arc<MyStore> }\n\nimpl Jobs {\n    \
    pub async fn report(&self, day: &str, me: &str) -> anyhow::Result<()> {\n        \
    let key = format!(\"report-lock:{day}\");\n        \
    if !self.store.put_if_absent(&key, me, Duration::from_secs(30)).await? {\n            return Ok(());\n        }\n        \
    tokio::fs::write(day, \"done\").await?;\n        \
    self.store.drop_key(&key).await?;\n        Ok(())\n    }\n}\n\n\
    pub async fn once(mutex: &tokio::sync::Mutex<u8>, slots: &tokio::sync::Semaphore) {\n    \
    let _one = (mutex.lock().await, slots.acquire().await);\n}\n";

#[test]
fn a_library_whose_source_is_elsewhere_is_proposed_and_the_proposal_works() {
    let project = project(&[("Cargo.toml", MANIFEST), ("src/lib.rs", WRAPPED)]);
    let written = initialised(project.path());
    assert_eq!(found(project.path()), NOTHING, "a proposal holds only when a person has looked at it");
    for line in [
        "# name = \"acme-store\"",
        "# connections = [\"MyStore\"]",
        "# # src/lib.rs:11",
        "# names = [\"put_if_absent\"]",
        "# condition = \"if-absent\"",
        "# value = 1",
        "# ttl = 2",
        "# names = [\"drop_key\"]",
    ] {
        assert!(written.lines().any(|own| own == line), "{line} is missing in\n{written}");
    }
    assert!(!written.contains("tokio"), "a lock in memory is none of ours:\n{written}");
    fs::write(project.path().join("leaselint.toml"), taken(&written)).unwrap();
    assert_eq!(found(project.path()), ["src/lib.rs:15 unguarded-release"]);
}

#[test]
fn functions_and_generic_parameters_are_proposed_as_well() {
    let code = "use acme_locks as locks;\nuse acme_locks::Store;\n\n\
        pub async fn run<S: Store>(store: &S, conn: &mut locks::Conn) -> locks::Result<()> {\n    \
        if !locks::try_acquire(conn, \"nightly-lock\", 500).await? { return Ok(()); }\n    \
        if store.try_lock(\"other-lock\", 10).await? { store.release(\"other-lock\").await?; }\n    \
        locks::release(conn, \"nightly-lock\").await\n}\n";
    let project = project(&[("src/lib.rs", code)]);
    let written = initialised(project.path());
    for part in [
        "# [[client.function]]\n# paths = [\"acme_locks::try_acquire\"]\n# action = \"lock\"",
        "# paths = [\"acme_locks::release\"]\n# action = \"unlock\"",
        "# connections = [\"Store\"]",
        "# names = [\"try_lock\"]",
    ] {
        assert!(written.contains(part), "{part} is missing in\n{written}");
    }
    assert!(written.contains("# key = 1\n# ttl = 2\n"), "the connection comes first:\n{written}");
    fs::write(project.path().join("leaselint.toml"), taken(&written)).unwrap();
    assert_eq!(leaselint(project.path(), &["--show-config"]).status.code(), Some(0));
    let deletes = taken(&written).replace("\"unlock\"", "\"delete\"");
    fs::write(project.path().join("leaselint.toml"), deletes).unwrap();
    let found = found(project.path());
    assert_eq!(found, ["src/lib.rs:6 unguarded-release", "src/lib.rs:7 unguarded-release"]);
}

#[test]
fn wrappers_in_the_project_and_known_clients_need_no_model() {
    let rule = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/unguarded-release");
    let cases = fs::read_dir(rule).unwrap().map(|case| case.unwrap().path());
    let mut count = 0;
    for case in cases {
        let output = leaselint(&case, &["init", "--print"]);
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(!text.contains("[[client]]") && text.contains("leaselint"), "{}: {text}", case.display());
        count += 1;
    }
    assert!(count > 10);
}

const ORDERS: &str =
    "CREATE TABLE orders (id BIGINT PRIMARY KEY, state TEXT, fencing_token BIGINT NOT NULL DEFAULT 0);\n";

#[test]
fn databases_histories_and_clients_are_seen() {
    let project = project(&[
        (
            "Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\nsqlx = { version = \"0.8\", features = [\"mysql\"] }\n",
        ),
        ("src/lib.rs", "pub fn nothing() {}\n"),
        ("migrations/0001_orders.sql", ORDERS),
        ("store/steps/1_seats.sql", "CREATE TABLE seats (id BIGINT PRIMARY KEY);\n"),
        ("store/steps/2_more.sql", "ALTER TABLE seats ADD COLUMN guest TEXT;\n"),
        ("reports/1_sums.sql", "SELECT 1;\n"),
        ("reports/2_sums.sql", "SELECT 2;\n"),
    ]);
    let before = found(project.path());
    let written = initialised(project.path());
    assert!(written.contains("\n# Seen in Cargo.toml.\ndialect = \"mysql\"\n"), "{written}");
    assert!(written.contains("\nmigrations = [\"store/steps\"]\n"), "{written}");
    assert!(written.contains("need not be named: migrations (1 file)."), "{written}");
    assert!(written.contains("#   sqlx (Cargo.toml)"), "{written}");
    let shown = leaselint(project.path(), &["--show-config"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("dialect = \"mysql\"") && shown.contains("store/steps"), "{shown}");
    assert_eq!(found(project.path()), before);
}

#[test]
fn packages_with_databases_of_their_own_get_tables_of_their_own() {
    let sqlx = |name: &str, database: &str| {
        format!("[package]\nname = \"{name}\"\n[dependencies]\n{database} = \"1\"\n")
    };
    let (a, b) = (sqlx("a", "tokio-postgres"), sqlx("b", "rusqlite"));
    let project = project(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b [1]\"]\n"),
        ("a/Cargo.toml", &a),
        ("b [1]/Cargo.toml", &b),
        ("a/src/lib.rs", ""),
        ("b [1]/src/lib.rs", ""),
    ]);
    let written = initialised(project.path());
    let table: toml::Table = toml::from_str(&written).unwrap();
    assert!(!table.contains_key("dialect"), "{written}");
    let paths = table["path"].as_array().unwrap();
    let dialects: Vec<&str> = paths.iter().map(|path| path["dialect"].as_str().unwrap()).collect();
    assert_eq!(dialects, ["postgres", "sqlite"], "{written}");
    assert_eq!(leaselint(project.path(), &["--show-config"]).status.code(), Some(0), "{written}");
}

#[test]
fn what_exists_stays_and_the_rest_is_told() {
    let project = project(&[("a.sql", "SELECT 1;\n"), ("leaselint.toml", "dialect = \"sqlite\"\n")]);
    let hooks = project.path().join(".pre-commit-config.yaml");
    let configuration = || fs::read_to_string(project.path().join("leaselint.toml")).unwrap();
    let first = leaselint(project.path(), &["init"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(stderr(&first).contains("leaselint.toml configures leaselint already"), "{}", stderr(&first));
    assert!(fs::read_to_string(&hooks).unwrap().contains("entry: leaselint check"));

    let again = leaselint(project.path(), &["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("has the hook already") && stderr(&again).contains("--print"));

    fs::write(&hooks, "repos: []\n").unwrap();
    fs::remove_file(project.path().join("leaselint.toml")).unwrap();
    let others = leaselint(project.path(), &["init"]);
    assert_eq!(others.status.code(), Some(0), "{}", stderr(&others));
    assert!(stderr(&others).contains("add to its `repos`:\n  - repo: local\n"), "{}", stderr(&others));
    assert_eq!(fs::read_to_string(&hooks).unwrap(), "repos: []\n");
    assert!(configuration().contains("# What leaselint should know"));
}

#[test]
fn a_manifest_with_our_table_is_a_configuration() {
    let manifest = "[workspace]\n[workspace.metadata.leaselint]\ndialect = \"mysql\"\n";
    let project = project(&[("Cargo.toml", manifest), ("a/src/lib.rs", "")]);
    for arguments in [&["init", "--no-hook"][..], &["init", "--no-hook", "a"]] {
        let output = leaselint(project.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("Cargo.toml configures leaselint already"), "{}", stderr(&output));
    }
    assert!(
        !project.path().join("leaselint.toml").exists() && !project.path().join("a/leaselint.toml").exists()
    );
}

#[test]
fn it_prints_and_writes_nothing_when_asked_to() {
    let project = project(&[("a.sql", "SELECT 1;\n")]);
    let output = leaselint(project.path(), &["init", "--print"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("# [levels]"));
    let mut names: Vec<_> = fs::read_dir(project.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".git", "a.sql"]);
    let bare = tempfile::tempdir().unwrap();
    let output = leaselint(bare.path(), &["init"]);
    assert!(stderr(&output).contains("no git repository here"), "{}", stderr(&output));
    assert!(bare.path().join("leaselint.toml").exists());
    let output = leaselint(bare.path(), &["init", "leaselint.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("leaselint.toml is no folder"), "{}", stderr(&output));
}

/// A name that ends its line must not become a setting.
#[cfg(unix)]
#[test]
fn names_of_files_cannot_write_settings() {
    let folder = "x\nselect = [\"fence\"]\n#";
    let first = format!("{folder}/1_a.sql");
    let second = format!("{folder}/2_b.sql");
    let project =
        project(&[(&first, ORDERS), (&second, ORDERS), ("Cargo.toml", "[package]\nname = \"a\"\n")]);
    let written = initialised(project.path());
    let table: toml::Table = toml::from_str(&written).unwrap();
    assert!(!table.contains_key("select"), "{written}");
    assert_eq!(table["migrations"].as_array().unwrap()[0].as_str(), Some(folder));
}
