//! Input that no one should have, and that some have: each gives a message with its place and a remedy,
//! or a clean result; everything beside it is still checked; nothing aborts, and nothing hangs.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far above what any of these inputs takes, on a busy machine as well.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A line that makes a Rust file worth parsing, without being a defect itself.
const LOCK_WORD: &str = "// Speaks of set_nx.\n";

/// The neighbour that must be checked whatever stands beside it: it holds the same defect as a file of
/// its own.
const NEIGHBOUR: &str = "neighbour.sql";

struct Run {
    report: serde_json::Value,
}

impl Run {
    /// The findings in a file, as (line, column, message and help).
    fn findings(&self, path: &str) -> Vec<(u64, u64, String)> {
        let all = self.report["findings"].as_array().expect("a list of findings");
        let here = all.iter().filter(|finding| finding["path"] == path);
        here.map(|finding| {
            assert_eq!(finding["rule"], "unreadable-input", "{finding}");
            let help = finding["help"].as_str().expect("a remedy");
            assert!(!help.is_empty());
            let start = &finding["span"]["start"];
            let place = (start["line"].as_u64().unwrap(), start["column"].as_u64().unwrap());
            (place.0, place.1, format!("{}; {help}", finding["message"].as_str().unwrap()))
        })
        .collect()
    }
}

/// Checks a folder beside whose content a sound and an illegible file stand, and sees that both of them
/// were dealt with.
fn check(folder: &Path) -> Run {
    fs::write(folder.join(NEIGHBOUR), b"-- \xFC\n").unwrap();
    let stdout = File::create(folder.join("report.json")).unwrap();
    let stderr = File::create(folder.join("stderr.txt")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .current_dir(folder)
        .args(["check", "--format", "json", "."])
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > TIME_LIMIT {
            child.kill().unwrap();
            panic!("no answer within {TIME_LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let stderr = fs::read_to_string(folder.join("stderr.txt")).unwrap();
    assert_eq!(status.code(), Some(1), "the neighbour's finding fails the run, nothing else does: {stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("overflow"), "{stderr}");
    let report = serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    let run = Run { report };
    assert_eq!(run.findings(NEIGHBOUR).len(), 1, "the neighbour is checked");
    run
}

fn check_file(name: &str, bytes: &[u8]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    check(folder.path())
}

/// A Rust file that is worth parsing, with a text inside a function's body from line 3 on.
fn rust(body: &str) -> String {
    format!("{LOCK_WORD}fn f() {{\n{body}\n}}\n")
}

#[test]
fn a_file_that_is_not_utf_8() {
    let run = check_file("a.rs", b"fn f() {}\nconst A: &str = \"Gr\xFC\xDFe\";\n");
    let [(2, 20, message)] = &run.findings("a.rs")[..] else { panic!("{:?}", run.findings("a.rs")) };
    assert!(
        message.contains("not UTF-8") && message.contains("0xFC") && message.contains("iconv"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_utf_16() {
    let run = check_file("a.sql", b"\xFF\xFES\0E\0L\0");
    let [(1, 1, message)] = &run.findings("a.sql")[..] else { panic!("{:?}", run.findings("a.sql")) };
    assert!(message.contains("UTF-16") && message.contains("iconv"), "{message}");
}

#[test]
fn marks_line_ends_and_nothing_at_all_are_fine() {
    for (name, bytes) in [
        ("bom.rs", &b"\xEF\xBB\xBFfn lock() { let word = \"set_nx\"; }\n"[..]),
        ("bom.sql", b"\xEF\xBB\xBFCREATE TABLE a (b bigint not null);\n"),
        ("bom.lua", b"\xEF\xBB\xBFreturn redis.call('GET', KEYS[1])\n"),
        ("crlf.rs", b"// set_nx\r\nfn lock() {\r\n    let a = \"b\r\n\";\r\n}\r\n"),
        ("crlf.sql", b"CREATE TABLE a (\r\n  b bigint not null\r\n);\r\n"),
        ("crlf.lua", b"local a = KEYS[1]\r\nreturn redis.call('GET', a)\r\n"),
        ("empty.rs", b""),
        ("empty.sql", b""),
        ("empty.lua", b""),
    ] {
        let run = check_file(name, bytes);
        assert_eq!(run.findings(name), [], "{name}");
        assert_eq!(run.report["summary"]["files"], 2, "{name}");
    }
}

#[test]
fn a_mark_is_no_column() {
    let run = check_file("a.sql", b"\xEF\xBB\xBF-- \xFC\n");
    assert!(matches!(run.findings("a.sql")[..], [(1, 4, _)]), "{:?}", run.findings("a.sql"));
}

#[test]
fn nul_bytes_are_survived() {
    for name in ["a.rs", "a.sql", "a.lua"] {
        let run = check_file(name, b"set_nx \0\0\0 SELECT '\0'; \0");
        assert_eq!(run.report["summary"]["files"], 2);
    }
}

#[test]
fn a_file_of_50_mb() {
    for name in ["a.rs", "dump.sql", "a.lua"] {
        let folder = tempfile::tempdir().unwrap();
        File::create(folder.path().join(name)).unwrap().set_len(50 * 1024 * 1024).unwrap();
        let run = check(folder.path());
        let [(1, 1, message)] = &run.findings(name)[..] else { panic!("{:?}", run.findings(name)) };
        assert!(message.contains("larger than 16 MiB") && message.contains(".ignore"), "{message}");
    }
}

#[test]
fn deep_nesting_is_refused_with_its_place() {
    let deep = [
        ("parentheses", "(".repeat(100_000) + "1" + &")".repeat(100_000)),
        ("blocks", "{".repeat(20_000) + "1" + &"}".repeat(20_000)),
        ("generics", format!("let a: {}u8{} = b();", "Box<".repeat(20_000), ">".repeat(20_000))),
        ("else-ifs", "if a {} else ".repeat(20_000) + "{}"),
        ("unary operators", format!("let a = {}true;", "!".repeat(20_000))),
        ("method calls", format!("let a = b{};", ".c()".repeat(20_000))),
        ("method calls on lines", format!("let a = b{};", "\n.c()".repeat(20_000))),
        ("binary operators", format!("let a = {}1;", "1 + ".repeat(50_000))),
        ("closures", format!("let a = {}1;", "|b, c| ".repeat(20_000))),
        ("macros", "vec![".repeat(20_000) + "1" + &"]".repeat(20_000)),
    ];
    for (name, body) in deep {
        let run = check_file("a.rs", rust(&body).as_bytes());
        let [(line, _, message)] = &run.findings("a.rs")[..] else {
            panic!("{name}: {:?}", run.findings("a.rs"))
        };
        assert!(*line >= 3 && message.contains("nested too deeply"), "{name}: {message}");
    }
}

/// Just below the limit nothing is refused, so that the parsers must bear it.
#[test]
fn nesting_below_the_limit_is_borne() {
    let borne = [
        ("parentheses", "(".repeat(1_200) + "1" + &")".repeat(1_200)),
        ("blocks", "{".repeat(1_200) + "1" + &"}".repeat(1_200)),
        ("generics", format!("let a: {}u8{} = b();", "Box<".repeat(1_200), ">".repeat(1_200))),
        ("reference types", format!("let a: {}u8 = b();", "&".repeat(2_400))),
        ("function types", format!("let a: {}u8 = b();", "fn() -> ".repeat(1_200))),
        ("else-ifs", "if a {} else ".repeat(600) + "{}"),
        ("ifs", "if a { ".repeat(600) + &"}".repeat(600)),
        ("matches", "match a { _ => ".repeat(600) + "1" + &"}".repeat(600)),
        ("unary operators", format!("let a = {}true;", "!".repeat(9_900))),
        ("method calls", format!("let a = b{};", ".c()".repeat(9_900))),
        ("sums", format!("let a = {}1;", "1 + ".repeat(9_900))),
        ("conditions", format!("let a = {}b;", "b && ".repeat(1_200))),
        ("closures", format!("let a = {}1;", "|b| ".repeat(1_200))),
        ("macros", "vec![".repeat(600) + "1" + &"]".repeat(600)),
        ("modules", "mod a { ".repeat(1_200) + &"}".repeat(1_200)),
    ];
    for (name, body) in borne {
        let run = check_file("a.rs", rust(&body).as_bytes());
        assert_eq!(run.findings("a.rs"), [], "{name}");
        assert_eq!(run.report["summary"]["parsed"], 1, "{name}");
    }
}

#[test]
fn large_flat_code_is_fine() {
    let mut table = String::from("const TABLE: &[(&str, i64)] = &[\n");
    for n in 0..50_000 {
        writeln!(table, "    (\"row {n}\", -{n} + 1),").unwrap();
    }
    table.push_str("];\n");
    let run = check_file("a.rs", format!("{LOCK_WORD}{table}").as_bytes());
    assert_eq!(run.findings("a.rs"), []);
    assert_eq!(run.report["summary"]["parsed"], 1);
}

#[test]
fn deep_sql_and_lua() {
    let parentheses = "(".repeat(100_000) + "1" + &")".repeat(100_000);
    for (name, text) in [
        ("a.sql", format!("SELECT {parentheses};\nUPDATE a SET b = {parentheses} WHERE c = 1;\n")),
        ("b.sql", format!("SELECT 1{};\n", " AND 1".repeat(50_000))),
        ("c.sql", format!("SELECT {}1;\n", "NOT ".repeat(50_000))),
        ("d.sql", "$a$ ".repeat(50_000)),
        ("a.lua", format!("return {parentheses}\n")),
        ("b.lua", format!("return {}1\n", "not ".repeat(50_000))),
        ("c.lua", format!("{}{}\n", "if a then ".repeat(50_000), "end ".repeat(50_000))),
        ("d.lua", format!("return 1{}\n", " .. 1".repeat(50_000))),
    ] {
        let run = check_file(name, text.as_bytes());
        assert_eq!(run.report["summary"]["files"], 2, "{name}");
        if matches!(name, "a.sql" | "b.sql" | "c.sql") {
            let [first, ..] = &run.findings(name)[..] else { panic!("{name}: nothing is said") };
            assert!(
                first.0 == 1 && first.2.contains("nested too deeply, or too long"),
                "{name}: {}",
                first.2
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn loops_of_links_end() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    symlink(folder.path(), folder.path().join("src/up")).unwrap();
    symlink("b.rs", folder.path().join("a.rs")).unwrap();
    symlink("a.rs", folder.path().join("b.rs")).unwrap();
    symlink("nowhere", folder.path().join("c.sql")).unwrap();
    let run = check(folder.path());
    assert_eq!(run.report["summary"]["files"], 1, "links are not followed");
}

/// A pipe or a folder of a source's name must not be waited for, or read.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.rs")).unwrap();
    let made = Command::new("mkfifo").arg(folder.path().join("pipe.rs")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo belongs to every Unix");
    assert_eq!(check(folder.path()).report["summary"]["files"], 1);
}

/// Root may read everything, so as root this only shows that the mode does no harm.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::write(locked.join("a.sql"), "").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let is_hidden = fs::read_dir(&locked).is_err();
    let run = check(folder.path());
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    let findings = run.findings("locked");
    if is_hidden {
        let [(1, 1, message)] = &findings[..] else { panic!("{findings:?}") };
        assert!(message.contains("cannot be walked") && message.contains("readable"), "{message}");
    } else {
        assert_eq!(findings, []);
        assert_eq!(run.report["summary"]["files"], 2);
    }
}

#[test]
fn a_path_that_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .current_dir(folder.path())
        .args(["check", "src/nowhere.rs"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("no such file or folder: src/nowhere.rs"), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_broken_manifest() {
    let run = check_file("Cargo.toml", b"[package]\nname = \n");
    let [(2, _, message)] = &run.findings("Cargo.toml")[..] else {
        panic!("{:?}", run.findings("Cargo.toml"))
    };
    assert!(message.contains("manifest cannot be parsed") && message.contains("cargo metadata"), "{message}");
}

#[test]
fn rust_that_does_not_parse() {
    let run = check_file("a.rs", format!("{LOCK_WORD}fn f( {{\n").as_bytes());
    let [(line, _, message)] = &run.findings("a.rs")[..] else { panic!("{:?}", run.findings("a.rs")) };
    assert!(*line >= 1 && message.contains("not valid Rust"), "{message}");
    assert_eq!(run.report["summary"]["parsed"], 0);
}

#[test]
fn a_rust_string_that_never_ends() {
    let run = check_file("a.rs", format!("{LOCK_WORD}const A: &str = \"open;\n").as_bytes());
    let [(_, _, message)] = &run.findings("a.rs")[..] else { panic!("{:?}", run.findings("a.rs")) };
    assert!(message.contains("not valid Rust"), "{message}");
}

#[test]
fn sql_quotes_and_comments_that_never_end() {
    for text in ["CREATE TABLE a (b int);\nUPDATE a SET b = 'open;\n", "SELECT 1;\n/* open\nSELECT 2;\n"] {
        let run = check_file("a.sql", text.as_bytes());
        let [(line, _, message)] = &run.findings("a.sql")[..] else {
            panic!("{text}: {:?}", run.findings("a.sql"))
        };
        assert_eq!(*line, 2, "{message}");
    }
}

#[test]
fn lua_that_is_not_balanced() {
    for text in [
        "if redis.call('GET', KEYS[1]) == ARGV[1] then\n  return 1\n",
        "return redis.call('GET', KEYS[1]\n",
        "return 'open\n",
    ] {
        let run = check_file("a.lua", text.as_bytes());
        let [(_, _, message)] = &run.findings("a.lua")[..] else {
            panic!("{text}: {:?}", run.findings("a.lua"))
        };
        assert!(message.contains("Lua script cannot be parsed"), "{message}");
    }
}
