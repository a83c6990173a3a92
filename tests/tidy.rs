//! Keeps the invariants of ARCHITECTURE.md: which room may name what, and what each file must be like.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 500;

/// The rooms and what they must not name.
const LAYERS: &[(&[&str], &[&str])] = &[
    (
        &["src/rules", "src/facts", "src/finding.rs"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "std::fs",
            "crate::report",
            "crate::rust",
            "crate::sql",
            "crate::lua",
        ],
    ),
    (
        &["src/locks"],
        &["syn::", "proc_macro2", "sqlparser", "full_moon", "std::fs", "crate::report", "crate::rules"],
    ),
    (
        &["src/rust", "src/sql", "src/lua"],
        &["crate::rules", "crate::report", "crate::resolve", "crate::finding", "crate::check", "std::fs"],
    ),
    (
        &["src/report"],
        &[
            "crate::resolve",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::locks",
            "crate::check",
            "std::fs",
            "std::env",
        ],
    ),
    (
        &["src/resolve"],
        &["syn::", "proc_macro2", "sqlparser", "full_moon", "crate::report", "crate::rules", "std::fs"],
    ),
];

/// Names that say nothing of what a file is responsible for.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "manager"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = walkdir::WalkDir::new(root().join(folder))
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name =
            path.strip_prefix(root()).expect("it was found below").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&path).expect("sources are UTF-8"))
    };
    paths.into_iter().map(read).collect()
}

/// Our code, without the files under `tests/` that are material for tests.
fn own_sources() -> Vec<(String, String)> {
    let mut all = sources("src");
    all.extend(sources("tests").into_iter().filter(|(path, _)| {
        let inside = path.strip_prefix("tests/").unwrap_or(path);
        !inside.contains('/') || inside.starts_with("harness/")
    }));
    all
}

/// The lines that are code: neither comments nor tests at the end of the file.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether `name` stands in the line as a path's start, not as the end of a longer word.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        let continues = |c: char| c.is_alphanumeric() || c == '_';
        !before.is_some_and(continues) && (name.ends_with("::") || !after.is_some_and(continues))
    })
}

fn breaches(path: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (rooms, forbidden) in LAYERS {
        if !rooms.iter().any(|room| path == *room || path.starts_with(&format!("{room}/"))) {
            continue;
        }
        for (at, line) in code(text) {
            out.extend(
                forbidden
                    .iter()
                    .filter(|name| names(line, name))
                    .map(|name| format!("{path}:{at} names {name}")),
            );
        }
    }
    out
}

#[test]
fn rooms_name_only_what_they_may() {
    let all: Vec<String> = sources("src").iter().flat_map(|(path, text)| breaches(path, text)).collect();
    assert_eq!(all, Vec::<String>::new());
}

#[test]
fn a_breach_would_be_seen() {
    assert_eq!(breaches("src/rules/x.rs", "use syn::Expr;\n"), ["src/rules/x.rs:1 names syn::"]);
    assert_eq!(
        breaches("src/lua/x.rs", "a\n  let r = crate::rules::all();\n"),
        ["src/lua/x.rs:2 names crate::rules"]
    );
    assert_eq!(
        breaches("src/report/x.rs", "use crate::resolve;\n"),
        ["src/report/x.rs:1 names crate::resolve"]
    );
    assert_eq!(breaches("src/rules/x.rs", "// syn::Expr\nuse crate::rules::Draft;\n"), Vec::<String>::new());
    assert_eq!(breaches("src/lua/x.rs", "use crate::rulesets; use my_syn::X;\n"), Vec::<String>::new());
}

#[test]
fn every_file_opens_with_what_it_is_responsible_for() {
    for (path, text) in own_sources() {
        let first = text.lines().next().unwrap_or("");
        assert!(first.starts_with("//! ") && first.len() > 20, "{path} must open with a `//!` comment");
        assert!(!first.contains("To be written"), "{path} is a stub");
    }
}

#[test]
fn no_file_is_too_long() {
    for (path, text) in own_sources() {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{path} has {lines} lines; {MOST_LINES} are the most");
    }
}

#[test]
fn file_names_say_what_is_in_them() {
    for (path, _) in sources("src") {
        let stem = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(!EMPTY_NAMES.contains(&stem.as_str()), "{path} needs a name of its field");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("it is part of the repository");
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).expect("the manifest is TOML");
    let reasons = read("docs/dependencies.md");
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for name in manifest.get(section).and_then(|s| s.as_table()).into_iter().flat_map(|s| s.keys()) {
            assert!(reasons.contains(&format!("`{name}`")), "docs/dependencies.md has no line for `{name}`");
        }
    }
}
