//! What runs keep for each other: a later run says the same and does less, whatever has become of the cache.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// Two projects, each with a defect of its own.
const FILES: &[(&str, &str)] = &[
    ("one/Cargo.toml", "[package]\nname = \"one\"\n"),
    (
        "one/src/lib.rs",
        "mod keys;\nuse redis::Commands;\npub fn free(con: &mut redis::Connection, id: &str) -> redis::RedisResult<()> {\n    \
         let owner: String = con.get(keys::lock_key())?;\n    if owner == id {\n        let _: () = con.del(keys::lock_key())?;\n    }\n    Ok(())\n}\n\
         pub fn take(con: &mut redis::Connection, id: &str) -> redis::RedisResult<bool> {\n    \
         redis::cmd(\"SET\").arg(keys::lock_key()).arg(id).arg(\"NX\").arg(\"PX\").arg(30_000).query(con)\n}\n",
    ),
    ("one/src/keys.rs", "pub fn lock_key() -> &'static str {\n    \"lock:orders\"\n}\n"),
    ("two/Cargo.toml", "[package]\nname = \"two\"\n"),
    (
        "two/migrations/1.sql",
        "CREATE TABLE orders (id bigint PRIMARY KEY, last_fencing_token bigint);\n-- leaselint: alow(x)\n",
    ),
    ("two/migrations/2.sql", "INSERT INTO orders (id VALUES (1;\n"),
    (
        "two/src/lib.rs",
        "pub async fn pay(db: &PgPool, id: i64, token: i64) -> sqlx::Result<()> {\n    sqlx::query(\"UPDATE orders SET paid = true, last_fencing_token = $2 WHERE id = $1 AND last_fencing_token <= $2\").bind(id).bind(token).execute(db).await?;\n    Ok(())\n}\n",
    ),
];

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    command.current_dir(folder).arg("check").args(["--format", "json"]).args(arguments).output().unwrap()
}

/// The report of a run, and how many milliseconds it has parsed and resolved.
fn report(folder: &Path, cache: &Path, arguments: &[&str]) -> (String, f64) {
    let cache = cache.to_str().unwrap();
    let output = run(folder, &[&["--cache-dir", cache, "--timings"], arguments].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    let took = |stage: &str| -> f64 {
        let line = told.lines().find(|line| line.contains(&format!("note: {stage} "))).expect(&told);
        line.split_whitespace().nth(2).and_then(|number| number.parse().ok()).expect(line)
    };
    let notes: Vec<&str> = told.lines().filter(|line| !line.contains(" ms")).collect();
    (String::from_utf8(output.stdout).unwrap() + &notes.join("\n"), took("parse") + took("resolve"))
}

fn without(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, &[&["--no-cache"], arguments].concat());
    String::from_utf8(output.stdout).unwrap() + String::from_utf8(output.stderr).unwrap().trim_end()
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).build();
    walk.flatten()
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.into_path())
        .collect()
}

#[test]
fn the_second_run_says_the_same_and_judges_nothing() {
    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let plain = without(tree.path(), &[]);
    assert!(plain.contains("get-then-del") && plain.contains("ignored-stale-write"), "{plain}");
    let (first, took) = report(tree.path(), cache.path(), &[]);
    assert_eq!(first, plain);
    assert!(took > 0.0);
    for _ in 0..2 {
        let (again, took) = report(tree.path(), cache.path(), &[]);
        assert_eq!(again, plain);
        assert!(took == 0.0, "{took} ms");
    }
}

#[test]
fn other_questions_have_other_answers() {
    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let asked: &[&[&str]] = &[
        &[],
        &["--pedantic"],
        &["--select", "get-then-del"],
        &["--tests"],
        &["--fail-on", "info"],
        &["one"],
        &["two/migrations/2.sql"],
        &["one/src/lib.rs", "two/src/lib.rs"],
    ];
    for round in 0..2 {
        for arguments in asked {
            let answer = report(tree.path(), cache.path(), arguments).0;
            assert_eq!(answer, without(tree.path(), arguments), "{arguments:?}, round {round}");
        }
    }
    // A setting counts from the next run on.
    write(tree.path(), "leaselint.toml", "ignore = [\"get-then-del\"]\n");
    let (answer, _) = report(tree.path(), cache.path(), &[]);
    assert_eq!(answer, without(tree.path(), &[]));
    assert!(!answer.contains("get-then-del"));
}

#[test]
fn a_change_is_seen_wherever_it_is() {
    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let first = report(tree.path(), cache.path(), &[]).0;
    let changes: &[(&str, &str)] = &[
        ("two/src/lib.rs", ""),
        ("one/src/keys.rs", "pub fn lock_key() -> &'static str {\n    \"lock:bills\"\n}\n"),
        ("one/Cargo.toml", "[package]\nname = \"uno\"\n[dependencies]\nredis = \"1\"\n"),
        ("two/migrations/1.sql", "CREATE TABLE orders (id bigint PRIMARY KEY);\n"),
        ("two/migrations/3.sql", "ALTER TABLE orders ADD COLUMN last_fencing_token bigint;\n"),
    ];
    for (path, text) in changes {
        write(tree.path(), path, text);
        let (answer, _) = report(tree.path(), cache.path(), &[]);
        assert_eq!(answer, without(tree.path(), &[]), "{path}");
    }
    for (path, text) in FILES {
        write(tree.path(), path, text);
    }
    fs::remove_file(tree.path().join("two/migrations/3.sql")).unwrap();
    let (back, took) = report(tree.path(), cache.path(), &[]);
    assert_eq!(back, first);
    assert!(took == 0.0, "what was judged before is known: {took} ms");
}

/// What becomes of the bytes of a file.
type Spoil = fn(Vec<u8>) -> Vec<u8>;

#[test]
fn a_spoilt_cache_costs_time_only() {
    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let plain = without(tree.path(), &[]);
    let spoil: &[Spoil] = &[
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes.iter().map(|byte| byte ^ 0x55).collect(),
        |mut bytes| {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            bytes
        },
    ];
    for spoil in spoil {
        report(tree.path(), cache.path(), &[]);
        let of_folder = |path: &PathBuf| path.ends_with("CACHEDIR.TAG") || path.ends_with(".gitignore");
        for path in all_files(cache.path()).into_iter().filter(|path| !of_folder(path)) {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, spoil(bytes)).unwrap();
        }
        let (answer, took) = report(tree.path(), cache.path(), &[]);
        assert_eq!(answer, plain);
        assert!(took > 0.0);
    }
}

#[test]
fn runs_side_by_side_do_not_hinder_each_other() {
    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let plain = without(tree.path(), &[]);
    thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| report(tree.path(), cache.path(), &[]).0)).collect();
        runs.into_iter().for_each(|run| assert_eq!(run.join().unwrap(), plain));
    });
    let (answer, took) = report(tree.path(), cache.path(), &[]);
    assert_eq!((answer, took), (plain, 0.0));
    // Nothing half written is left behind.
    let left = all_files(cache.path());
    assert!(
        left.iter().all(|path| !path.file_name().unwrap().to_string_lossy().starts_with(".tmp")),
        "{left:?}"
    );
}

#[test]
fn a_cache_that_cannot_be_written_is_none() {
    let (tree, other) = (tree(), tempfile::tempdir().unwrap());
    let file = other.path().join("file");
    fs::write(&file, "no folder").unwrap();
    for folder in [file.clone(), file.join("below")] {
        assert_eq!(report(tree.path(), &folder, &[]).0, without(tree.path(), &[]));
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "no folder");
}

#[test]
fn a_cache_is_cleaned_on_demand_and_nothing_else_is() {
    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let folder = cache.path().join("kept");
    report(tree.path(), &folder, &[]);
    let clean = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
        command.args(["clean", "--cache-dir"]).arg(folder).output().unwrap()
    };
    assert!(clean(&folder).status.success() && !folder.exists());
    assert!(clean(&folder).status.success());
    let foreign = clean(tree.path());
    assert_eq!(foreign.status.code(), Some(2));
    let told = String::from_utf8(foreign.stderr).unwrap();
    assert!(told.contains("is no cache of leaselint's: nothing in it was touched"), "{told}");
    assert!(tree.path().join("one/src/lib.rs").exists());
}

#[test]
fn without_a_cache_nothing_is_written() {
    let (tree, home) = (tree(), tempfile::tempdir().unwrap());
    for (arguments, is_written) in [(&["check", "--no-cache"][..], false), (&["check"], true)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
        command.args(arguments).current_dir(tree.path());
        command.env("LEASELINT_CACHE_DIR", home.path().join("cache")).output().unwrap();
        assert_eq!(home.path().join("cache").exists(), is_written, "{arguments:?}");
    }
    assert_eq!(all_files(tree.path()).len(), FILES.len());
}

/// All labelled cases, as many projects: whatever the threads, the order of the paths, and the cache.
#[test]
fn a_report_is_the_same_bytes_however_it_was_made() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    // Beside our repository, so that each is a project.
    let tree = tempfile::tempdir().unwrap();
    for file in all_files(&cases) {
        let target = tree.path().join(file.strip_prefix(&cases).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    let mut paths: Vec<String> = fs::read_dir(tree.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    paths.sort();
    assert!(paths.len() > 300);
    let cache = tempfile::tempdir().unwrap();
    let cache = ["--cache-dir", cache.path().to_str().unwrap()];
    let answer = |how: &[&str], paths: &[String]| {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let output = run(tree.path(), &[how, &["--pedantic"], &paths[..]].concat());
        (output.stdout, output.stderr)
    };
    let first = answer(&["--no-cache", "--jobs", "1"], &paths);
    assert!(first.0.len() > 100_000);
    let shuffled: Vec<String> = (0..paths.len()).map(|at| paths[at * 151 % paths.len()].clone()).collect();
    assert_ne!(shuffled, paths);
    for (how, paths) in [
        (&["--no-cache", "--jobs", "4"][..], &shuffled),
        (&cache[..], &shuffled),
        (&cache[..], &paths),
        (&[cache[0], cache[1], "--jobs", "1"], &shuffled),
    ] {
        let other = answer(how, paths);
        assert!(other == first, "{how:?}");
    }
}

/// A run that is ended at any moment leaves a cache that later runs can use.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_leaves_nothing_wrong() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let (tree, cache) = (tree(), tempfile::tempdir().unwrap());
    let plain = without(tree.path(), &[]);
    for round in 0..24 {
        write(tree.path(), "one/src/more.rs", &format!("pub fn f{round}() {{}}\n"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
        command.current_dir(tree.path()).args(["check", "--cache-dir"]).arg(cache.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(round * 2));
        let signal = if round % 2 == 0 { Signal::SIGKILL } else { Signal::SIGINT };
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        child.wait().unwrap();
        fs::remove_file(tree.path().join("one/src/more.rs")).unwrap();
        assert_eq!(report(tree.path(), cache.path(), &[]).0, plain, "round {round}");
    }
}
