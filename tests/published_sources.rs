//! Everything that published crates hold and a front end reads: no panic, no hang, and nothing refused that compiles. The
//! crates are those that cargo has unpacked here, so this test is ignored unless asked for, and comes after the one over
//! published crates.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot set itself up has failed; figures are for people"
)]

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, thread};

use leaselint::facts::sql::Dialect;
use leaselint::sources::{DEPTH_LIMIT, FileKind, read_text, too_deep_at};
use leaselint::{lua, rust, sql, suppression};

/// Folders of what no compiler reads either: templates, and data of parsers' own tests.
const NO_CODE: &[&str] =
    &["/tests/", "/test/", "/benches/", "/examples/", "/templates/", "/template/", "/testdata/"];

/// A shell script that is named like Rust; and trait objects without `dyn`, which only the edition of 2015 has.
const NO_RUST: &[&str] = &["sea-orm-2.0.4/build-tools/", "signal-hook-registry-1.4.8/src/lib.rs"];

/// On any machine; the largest files take a hundredth of it.
const MOST: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Read {
    rust: usize,
    sql: usize,
    lua: usize,
    bytes: usize,
    slowest: Duration,
    refused: Vec<String>,
}

fn registry() -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.unwrap_or_else(|| env::home_dir().unwrap().join(".cargo")).join("registry/src")
}

fn files() -> Vec<(PathBuf, FileKind)> {
    let walk = ignore::WalkBuilder::new(registry()).standard_filters(false).build();
    let kinds = [FileKind::Rust, FileKind::Sql, FileKind::Lua];
    walk.flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| Some((entry.path().to_owned(), FileKind::of(entry.path())?)))
        .filter(|(_, kind)| kinds.contains(kind))
        .collect()
}

/// Reads one file as a run would.
fn read(path: &Path, kind: FileKind, all: &Mutex<Read>) {
    let Ok(text) = read_text(path) else { return };
    let start = Instant::now();
    let _ = suppression::scan(kind, &text);
    let refused = match kind {
        FileKind::Rust if too_deep_at(&text, DEPTH_LIMIT).is_some() => Some("nested too deeply".to_owned()),
        FileKind::Rust => rust::parse(&text).err().map(|error| error.message),
        FileKind::Sql => {
            for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite] {
                sql::parse(&text, dialect);
            }
            None
        }
        _ => lua::parse(&text).problem.map(|(_, reason)| reason),
    };
    let took = start.elapsed();
    assert!(took < MOST, "{}: {took:?}", path.display());
    let mut all = all.lock().unwrap();
    match kind {
        FileKind::Rust => all.rust += 1,
        FileKind::Sql => all.sql += 1,
        _ => all.lua += 1,
    }
    all.bytes += text.len();
    all.slowest = all.slowest.max(took);
    all.refused.extend(refused.map(|reason| format!("{}: {reason}", path.display())));
}

#[test]
#[ignore = "reads what cargo has unpacked on this machine"]
fn every_published_source_is_read() {
    let files = files();
    assert!(files.len() > 5_000, "only {} files: run the test over published crates first", files.len());
    let (all, files) = (Mutex::new(Read::default()), Mutex::new(files.into_iter()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let work = || {
                loop {
                    let next = files.lock().unwrap().next();
                    let Some((path, kind)) = next else { break };
                    read(&path, kind, &all);
                }
            };
            thread::Builder::new().stack_size(256 * 1024 * 1024).spawn_scoped(scope, work).unwrap();
        }
    });
    let Read { rust, sql, lua, bytes, slowest, refused } = all.into_inner().unwrap();
    println!(
        "{rust} Rust, {sql} SQL and {lua} Lua files, {} MB; the slowest took {slowest:.1?}",
        bytes / 1_000_000
    );
    let is_code = |refused: &&String| !NO_CODE.iter().chain(NO_RUST).any(|folder| refused.contains(folder));
    let wrong: Vec<&String> = refused.iter().filter(is_code).collect();
    println!("{} refused, {} of them code", refused.len(), wrong.len());
    assert_eq!(wrong, Vec::<&String>::new());
}
