//! Names that lead in circles, to several things, or nowhere, and programs of great length: less is known
//! then, nothing wrong is claimed, and the time grows with the text. What single files may hold is the
//! business of `bad_input.rs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[allow(dead_code, reason = "each test reads other parts of a report")]
mod tool;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Far above what any of these inputs takes, on a busy machine as well.
const TIME_LIMIT: Duration = Duration::from_secs(120);

const MANIFEST: &str = "[package]\nname = \"app\"\n[dependencies]\nredis = \"1\"\n";

/// Takes the lock `slot:lock`, so that a plain delete of it is a defect.
const TAKE: &str = r#"
pub fn take(conn: &mut redis::Connection, me: &str) -> redis::RedisResult<bool> {
    let reply: Option<String> = redis::cmd("SET").arg("slot:lock").arg(me).arg("NX").arg("PX").arg(900).query(conn)?;
    Ok(reply.is_some())
}
pub fn is_mine(conn: &mut redis::Connection, me: &str) -> redis::RedisResult<bool> {
    let holder: Option<String> = redis::cmd("GET").arg("slot:lock").query(conn)?;
    Ok(holder.as_deref() == Some(me))
}
"#;

fn write(folder: &Path, files: &[(&str, String)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The rules and lines that are found in a workspace of these files, as `src/lib.rs:3 rule`.
fn found(files: &[(&str, String)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    let findings = tool::check(folder.path(), TIME_LIMIT).unwrap();
    findings.iter().map(|finding| format!("{}:{} {}", finding.path, finding.line(), finding.rule)).collect()
}

fn package(files: &[(&'static str, String)]) -> Vec<String> {
    let mut all = vec![("Cargo.toml", MANIFEST.to_owned())];
    all.extend(files.iter().cloned());
    found(&all)
}

#[test]
fn modules_that_declare_themselves() {
    let lib = format!("#[path = \"lib.rs\"]\nmod again;\n#[path = \"other.rs\"]\nmod other;\n{TAKE}");
    let other = "#[path = \"lib.rs\"]\nmod back;\n#[path = \"other.rs\"]\nmod me;\nuse redis::Commands;\n\
                 pub fn free(conn: &mut redis::Connection) -> redis::RedisResult<()> { conn.del(\"slot:lock\") }\n";
    let found = package(&[("src/lib.rs", lib), ("src/other.rs", other.to_owned())]);
    assert_eq!(found, ["src/other.rs:6 unguarded-release"]);
}

#[test]
fn imports_and_globs_in_circles() {
    let lib = format!(
        "pub mod a;\npub mod b;\nuse a::*;\nuse a::ring as loop_name;\nuse loop_name::deeper as ring;\n{TAKE}\n\
         pub fn free(conn: &mut redis::Connection) -> redis::RedisResult<()> {{ ring(conn)?; give_up(conn) }}\n"
    );
    let a = "pub use crate::b::*;\npub use self::*;\npub use crate::b::ring;\n";
    let b = "pub use crate::a::*;\npub use crate::a::ring;\npub use crate::b::ring::ring as other;\nuse redis::Commands;\n\
             pub fn give_up(conn: &mut redis::Connection) -> redis::RedisResult<()> {\n    conn.del(\"slot:lock\")\n}\n";
    let found = package(&[("src/lib.rs", lib), ("src/a.rs", a.to_owned()), ("src/b.rs", b.to_owned())]);
    assert_eq!(found, ["src/b.rs:6 unguarded-release"]);
}

#[test]
fn aliases_and_constants_made_of_themselves() {
    let lib = format!(
        "use redis::Commands;\ntype A = B;\ntype B = A;\nconst KEY: &str = OTHER;\nconst OTHER: &str = KEY;\n{TAKE}\n\
         pub fn free(conn: &mut A) {{ let _: Result<(), ()> = conn.del(KEY); conn.go(); }}\n"
    );
    assert_eq!(package(&[("src/lib.rs", lib)]), [""; 0]);
}

/// Whichever `store` the manifest means, one of them compares.
#[test]
fn two_crates_of_one_name() {
    let release = |body: &str| {
        format!(
            "use redis::Commands;\npub fn drop_key(conn: &mut redis::Connection, key: &str) -> redis::RedisResult<()> {{\n    {body}\n}}\n"
        )
    };
    let manifest = "[package]\nname = \"store\"\n[dependencies]\nredis = \"1\"\n";
    let plain = release("conn.del(key)");
    let script = release(
        "redis::Script::new(\"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end\").key(key).arg(\"x\").invoke(conn)",
    );
    let app = format!(
        "{TAKE}\npub fn free(conn: &mut redis::Connection) -> redis::RedisResult<()> {{\n    store::drop_key(conn, \"slot:lock\")\n}}\n"
    );
    let files = |dependency: &str| {
        vec![
            ("one/Cargo.toml", manifest.to_owned()),
            ("one/src/lib.rs", plain.clone()),
            ("two/Cargo.toml", manifest.to_owned()),
            ("two/src/lib.rs", script.clone()),
            (
                "app/Cargo.toml",
                format!("[package]\nname = \"app\"\n[dependencies]\nredis = \"1\"\n{dependency}\n"),
            ),
            ("app/src/lib.rs", app.clone()),
        ]
    };
    assert_eq!(found(&files("store = \"1\"")), [""; 0]);
    assert_eq!(found(&files("store = { path = \"../two\" }")), [""; 0]);
    assert_eq!(found(&files("store = { path = \"../one\" }")), ["app/src/lib.rs:12 unguarded-release"]);
}

#[test]
fn modules_that_are_missing_and_items_that_macros_make() {
    let lib = format!(
        "mod nowhere;\nmod gone {{ pub mod deeper; }}\nmake_releases! {{ free_slot => \"slot:lock\" }}\n{TAKE}\n\
         pub fn free(conn: &mut redis::Connection, me: &str) -> redis::RedisResult<()> {{\n    \
         nowhere::drop_key(conn, \"slot:lock\")?;\n    gone::deeper::drop_key(conn, \"slot:lock\")?;\n    free_slot(conn)\n}}\n"
    );
    // A namesake that the path does not lead to.
    let other = "use redis::Commands;\npub struct Page;\nimpl Page {\n    pub fn drop_key(conn: &mut redis::Connection, key: &str) -> redis::RedisResult<()> { conn.del(key) }\n}\n";
    let found = package(&[("src/lib.rs", lib), ("src/other.rs", other.to_owned())]);
    assert_eq!(found, [""; 0]);
}

/// The text does not say which of the two runs, so neither is taken for the other.
#[test]
fn items_under_conditions_that_exclude_each_other() {
    let lib = format!(
        "use redis::Commands;\n#[cfg(feature = \"pages\")]\nfn key() -> &'static str {{ \"slot:page\" }}\n\
         #[cfg(not(feature = \"pages\"))]\nfn key() -> &'static str {{ \"slot:lock\" }}\n\
         #[cfg(unix)]\nconst NAME: &str = \"slot:page\";\n#[cfg(windows)]\nconst NAME: &str = \"slot:lock\";\n{TAKE}\n\
         pub fn evict(conn: &mut redis::Connection) -> redis::RedisResult<()> {{\n    conn.del::<_, ()>(key())?;\n    conn.del(NAME)\n}}\n"
    );
    assert_eq!(package(&[("src/lib.rs", lib)]), [""; 0]);
}

/// Runs that differ by less do not differ.
const NOISE: Duration = Duration::from_millis(25);

/// The shortest of three runs on one file.
fn shortest(text: &str) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("Cargo.toml", MANIFEST.to_owned()), ("src/lib.rs", text.to_owned())]);
    let run = || {
        let start = Instant::now();
        tool::check(folder.path(), TIME_LIMIT).unwrap();
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

/// Four times the text may take four times as long; twice of that is generous. What a run costs anyway
/// is taken off, and what is shorter than the noise of a busy machine counts as long as that.
fn grows_with_the_text(name: &str, text: impl Fn(usize) -> String, size: usize) {
    let anyway = shortest(&text(1));
    let cost = |size: usize| shortest(&text(size)).saturating_sub(anyway).max(NOISE);
    let (once, four_times) = (cost(size), cost(4 * size));
    assert!(four_times < once * 8, "{name}: {once:?} for {size}, {four_times:?} for four times as much");
}

fn chain(length: usize) -> String {
    let mut text = format!("use redis::Commands;\n{TAKE}");
    for n in 0..length {
        writeln!(
            text,
            "pub fn step{n}(conn: &mut redis::Connection, key: &str, n: u64) -> redis::RedisResult<()> {{ if n > {n} {{ step{}(conn, key, n + 1) }} else {{ Ok(()) }} }}",
            n + 1
        )
        .unwrap();
    }
    writeln!(text, "pub fn step{length}(conn: &mut redis::Connection, key: &str, _n: u64) -> redis::RedisResult<()> {{ conn.del(key) }}").unwrap();
    text
}

/// Functions that call each other in a ring, of which one acts.
fn ring(length: usize) -> String {
    let mut text = format!("use redis::Commands;\n{TAKE}");
    for n in 0..length {
        let act = if n == 0 { "conn.del::<_, ()>(format!(\"{key}:page\"))?;" } else { "" };
        writeln!(
            text,
            "pub fn turn{n}(conn: &mut redis::Connection, key: &str) -> redis::RedisResult<()> {{ {act} turn{}(conn, key) }}",
            (n + 1) % length
        )
        .unwrap();
    }
    text
}

fn long_body(lines: usize) -> String {
    let mut text = format!(
        "use redis::Commands;\n{TAKE}pub fn all(conn: &mut redis::Connection, x: u64) -> redis::RedisResult<()> {{\n"
    );
    for n in 0..lines {
        writeln!(
            text,
            "    let v{n} = format!(\"page:{{x}}:{n}\"); if x == {n} {{ conn.del::<_, ()>(&v{n})?; }}"
        )
        .unwrap();
    }
    text.push_str("    Ok(())\n}\n");
    text
}

fn long_file(functions: usize) -> String {
    let mut text = format!("use redis::Commands;\n{TAKE}");
    for n in 0..functions {
        write!(
            text,
            "pub struct Page{n} {{ id: u64 }}\nimpl Page{n} {{\n    fn key(&self) -> String {{ format!(\"page:{{}}:{n}\", self.id) }}\n    pub fn evict(&self, conn: &mut redis::Connection) -> redis::RedisResult<()> {{\n        conn.del(self.key())\n    }}\n}}\n",
        )
        .unwrap();
    }
    text
}

fn closures(depth: usize) -> String {
    let mut text = format!(
        "use redis::Commands;\n{TAKE}pub fn all(conn: &mut redis::Connection) -> redis::RedisResult<()> {{\n"
    );
    text.push_str(&"run(|x| { ".repeat(depth));
    text.push_str("conn.del::<_, ()>(\"page\")");
    text.push_str(&" })".repeat(depth));
    text.push_str("\n}\n");
    text
}

#[test]
fn a_chain_of_ten_thousand_functions() {
    grows_with_the_text("chain", chain, 2_500);
}

#[test]
fn functions_that_call_each_other() {
    for length in [1, 2, 100] {
        assert_eq!(package(&[("src/lib.rs", ring(length))]), [""; 0]);
    }
    grows_with_the_text("ring", ring, 400);
}

#[test]
fn a_file_of_twenty_thousand_lines() {
    grows_with_the_text("file", long_file, 715);
    grows_with_the_text("body", long_body, 5_000);
}

#[test]
fn closures_in_closures() {
    grows_with_the_text("closures", closures, 50);
}
