//! Whole runs over trees on disk, through the library.

use std::fs;
use std::path::Path;

use super::*;

fn options(folder: &Path, paths: &[&str]) -> Options {
    Options {
        paths: paths.iter().map(PathBuf::from).collect(),
        working_directory: folder.canonicalize().unwrap(),
        no_ignore: false,
        tests: false,
        jobs: NonZeroUsize::new(2),
        selection: Selection::default(),
        models: Models::built_in(),
        unsaved: Vec::new(),
        changes: None,
        configuration: Arc::default(),
        kept: Arc::default(),
        cache: None,
        stop: Stop::default(),
        progress: Progress::default(),
        timings: Timings::default(),
        audits: false,
    }
}

fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn places(report: &Report, sources: &Sources) -> Vec<String> {
    let place = |finding: &Finding| {
        let position = sources.position(finding.primary.file, finding.primary.span.start);
        format!("{}:{}:{}", sources.path(finding.primary.file), position.line, position.column)
    };
    report.findings.iter().map(place).collect()
}

/// A text that is no UTF-8 from its second line on.
const LATIN_1: &[u8] = b"-- a comment\n-- Gr\xFC\xDFe\n";

#[test]
fn findings_come_by_path_whatever_the_order_and_the_threads() {
    let tree = tree(&[("b/x.sql", LATIN_1), ("a.sql", LATIN_1), ("b/a.lua", LATIN_1), ("good.sql", b"")]);
    for (jobs, paths) in [(1, vec!["."]), (4, vec!["b", "a.sql", "good.sql"])] {
        let jobs = NonZeroUsize::new(jobs);
        let (report, sources) = check(&Options { jobs, ..options(tree.path(), &paths) }).unwrap();
        assert_eq!(places(&report, &sources), ["a.sql:2:6", "b/a.lua:2:6", "b/x.sql:2:6"]);
        assert_eq!((report.summary.files, report.summary.parsed, report.summary.warnings), (4, 1, 3));
    }
}

#[test]
fn only_what_was_asked_for_is_reported_and_counted() {
    let tree = tree(&[("Cargo.toml", b"[package]\nname = \"a\"\n"), ("a.sql", LATIN_1), ("b.sql", LATIN_1)]);
    let (report, sources) = check(&options(tree.path(), &["b.sql"])).unwrap();
    assert_eq!(places(&report, &sources), ["b.sql:2:6"]);
    assert_eq!(report.summary.files, 1);
}

#[test]
fn test_code_is_reported_on_demand() {
    let tree = tree(&[("tests/a.sql", LATIN_1)]);
    let quiet = options(tree.path(), &["."]);
    assert_eq!(check(&quiet).unwrap().0.findings.len(), 0);
    assert_eq!(check(&Options { tests: true, ..quiet }).unwrap().0.findings.len(), 1);
}

#[test]
fn a_module_of_tests_is_left_out_and_the_file_is_read() {
    let take = "fn take(c: &mut C) -> bool { c.set_nx(\"a:seen\", 1) }";
    let text = format!("{take}\n/// Documented.\n#[cfg(test)]\nmod tests {{ fn ( broken }}\n");
    let tree = tree(&[("src/lib.rs", text.as_bytes())]);
    let quiet = options(tree.path(), &["."]);
    assert_eq!(check(&quiet).unwrap().0.findings, []);
    assert_eq!(check(&Options { tests: true, ..quiet }).unwrap().0.findings[0].rule, "unreadable-input");
}

#[test]
fn suppressed_findings_are_counted_and_slips_are_told() {
    let tree = tree(&[
        ("a.sql", b"-- leaselint: allow-file(unreadable-input, reason = \"old\")\n-- \xFC\n"),
        ("b.sql", b"-- leaselint: allow(unredable-input)\n-- leaselint: alow(x)\nSELECT 1;\n"),
    ]);
    let (report, _) = check(&options(tree.path(), &["."])).unwrap();
    assert_eq!(report.summary.suppressed, 1);
    let [unknown] = &report.findings[..] else { panic!("{report:?}") };
    assert_eq!(unknown.rule, "unused-suppression");
    assert!(unknown.message.contains("did you mean `unreadable-input`?"), "{unknown:?}");
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].starts_with("b.sql:2:1: this suppression cannot be read"), "{:?}", report.notes);
}

#[test]
fn a_file_is_parsed_for_its_operations_or_because_a_parsed_one_needs_it() {
    let tree = tree(&[
        ("a/Cargo.toml", b"[package]\nname = \"a\"\n"),
        ("a/src/lib.rs", b"mod keys; mod lock; mod other;"),
        ("a/src/keys.rs", b"pub fn turnstile_key() -> String { String::new() }"),
        ("a/src/lock.rs", b"use redis::Commands; fn f() { con.set_nx(turnstile_key(), owner); }"),
        ("a/src/other.rs", b"fn g() {}"),
        ("b/Cargo.toml", b"[package]\nname = \"b\"\n"),
        ("b/src/keys.rs", b"pub fn turnstile_key() -> String { String::new() }"),
    ]);
    // An audit shows places in all of them, so that their texts stay.
    let options = Options { audits: true, ..options(tree.path(), &["."]) };
    let (report, sources) = check(&options).unwrap();
    assert_eq!((report.summary.files, report.summary.parsed), (5, 2));
    let kept = |path: &str| {
        let (id, _) = sources.files().find(|(_, file)| file.path() == path).unwrap();
        sources.text(id).is_some()
    };
    assert!(kept("a/src/lock.rs") && kept("a/src/keys.rs"));
    assert!(!kept("a/src/other.rs") && !kept("b/src/keys.rs"));
}

#[test]
fn a_path_that_does_not_exist_stops_the_run() {
    let tree = tree(&[]);
    let error = check(&options(tree.path(), &["nowhere"])).unwrap_err();
    assert!(matches!(error, CheckError::Path(PathError::Missing(_))));
}

/// What lies in one workspace, or beside it, or is linked by a path, is one project.
#[test]
fn a_project_has_what_belongs_together() {
    let tree = tree(&[
        ("shop/Cargo.toml", b"[workspace]\nmembers = [\"*\"]\n"),
        ("shop/web/Cargo.toml", b"[package]\nname = \"web\"\n"),
        ("shop/web/src/lib.rs", b""),
        ("shop/jobs/Cargo.toml", b"[package]\nname = \"jobs\"\n"),
        ("shop/jobs/src/lib.rs", b""),
        ("lone/Cargo.toml", b"[package]\nname = \"lone\"\n"),
        ("lone/src/lib.rs", b""),
        ("user/Cargo.toml", b"[package]\nname = \"user\"\n[dependencies]\nused = { path = \"../used\" }\n"),
        ("used/Cargo.toml", b"[package]\nname = \"used\"\n"),
        ("repo/.git/HEAD", b""),
        ("repo/migrations/1.sql", b""),
        ("repo/api/Cargo.toml", b"[package]\nname = \"api\"\n"),
        ("mixed/sql/1.sql", b""),
        ("mixed/a/Cargo.toml", b"[package]\nname = \"a\"\n"),
        ("mixed/b/Cargo.toml", b"[package]\nname = \"b\"\n"),
    ]);
    let options = options(tree.path(), &["."]);
    let (sources, _) = Sources::new(find(&options).unwrap(), &options.working_directory);
    assert_eq!(load::read_manifests(&sources), []);
    let (packages, _) = read_packages(&sources);
    let names = |project: &Project| {
        let mut folders: Vec<&str> = project.files.iter().map(|file| sources.file(*file).dir()).collect();
        folders.dedup();
        folders.join(" ")
    };
    let found: Vec<String> = projects(&sources, &packages).iter().map(names).collect();
    assert_eq!(
        found,
        [
            "lone lone/src",
            "mixed/a mixed/b mixed/sql",
            "repo/api repo/migrations",
            "shop shop/jobs shop/jobs/src shop/web shop/web/src",
            "used user",
        ]
    );
}
