//! Keeps the invariants of ARCHITECTURE.md: which room may name what, and what each file must be like.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

const MOST_LINES: usize = 500;

/// The rooms and what they must not name.
const LAYERS: &[(&[&str], &[&str])] = &[
    (
        &["src/facts", "src/finding.rs"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "std::fs",
            "crate::sources",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::resolve",
            "crate::locks",
            "crate::rules",
            "crate::report",
        ],
    ),
    (
        &["src/locks", "src/rules"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "std::fs",
            "crate::sources",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::resolve",
            "crate::suppression",
            "crate::report",
        ],
    ),
    (&["src/locks"], &["crate::rules", "crate::finding", "crate::proof", "crate::audit"]),
    (
        &["src/proof", "src/audit"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "std::fs",
            "crate::sources",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::resolve",
            "crate::suppression",
            "crate::report",
        ],
    ),
    (&["src/proof"], &["crate::audit"]),
    (&["src/rules"], &["crate::proof", "crate::audit"]),
    (
        &["src/resolve"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "std::fs",
            "crate::sources",
            "crate::rust",
            "crate::rules",
            "crate::finding",
            "crate::suppression",
            "crate::report",
        ],
    ),
    (
        &["src/rust", "src/sql", "src/lua"],
        &[
            "std::fs",
            "crate::sources",
            "crate::resolve",
            "crate::locks",
            "crate::rules",
            "crate::finding",
            "crate::suppression",
            "crate::report",
        ],
    ),
    (&["src/rust"], &["sqlparser", "full_moon", "crate::sql", "crate::lua"]),
    (&["src/sql"], &["syn::", "proc_macro2", "full_moon", "crate::rust", "crate::lua"]),
    (&["src/lua"], &["syn::", "proc_macro2", "sqlparser", "crate::rust", "crate::sql"]),
    (
        &["src/sources"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::resolve",
            "crate::locks",
            "crate::rules",
            "crate::finding",
        ],
    ),
    (
        &["src/report"],
        &[
            "std::fs",
            "std::env",
            "crate::sources",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::resolve",
            "crate::locks",
            "crate::proof",
        ],
    ),
    // A run puts the rooms in their order, and the command line starts it: nothing calls back.
    (
        &[
            "src/facts",
            "src/finding.rs",
            "src/sources",
            "src/rust",
            "src/sql",
            "src/lua",
            "src/resolve",
            "src/locks",
            "src/rules",
            "src/suppression",
            "src/suppression.rs",
            "src/proof",
            "src/audit",
            "src/report",
        ],
        &["crate::check", "crate::cli", "crate::language_server"],
    ),
    // It keeps bytes for others, and knows nothing of what they mean.
    (
        &["src/cache"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "crate::facts",
            "crate::finding",
            "crate::sources",
            "crate::resolve",
            "crate::locks",
            "crate::rules",
            "crate::check",
            "crate::cli",
        ],
    ),
    // It looks at facts and proposes settings; writing them down is the command's.
    (
        &["src/proposal"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "std::fs",
            "crate::cli",
            "crate::rules",
            "crate::finding",
            "crate::report",
            "crate::suppression",
        ],
    ),
    // It shows what a run has found, and is handed what runs the checker.
    (
        &["src/language_server"],
        &[
            "syn::",
            "proc_macro2",
            "sqlparser",
            "full_moon",
            "crate::cli",
            "crate::rust",
            "crate::sql",
            "crate::lua",
            "crate::resolve",
            "crate::locks",
            "crate::configuration",
        ],
    ),
    (
        &["src/check", "src/check.rs"],
        &["crate::cli", "crate::language_server", "crate::report", "sqlparser", "full_moon", "syn::"],
    ),
];

/// Names that say nothing of what a file is responsible for.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "manager"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = WalkBuilder::new(root().join(folder))
        .standard_filters(false)
        .build()
        .flatten()
        .map(DirEntry::into_path)
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
    all.extend(sources("runtime"));
    for folder in ["fuzz/src", "fuzz/targets", "fuzz/examples"] {
        all.extend(sources(folder));
    }
    all.extend(sources("tests").into_iter().filter(|(path, _)| {
        let inside = path.strip_prefix("tests/").unwrap_or(path);
        let of_a_test = [
            "harness/",
            "tool/",
            "corpus/",
            "clients/",
            "fixes/",
            "language_server/",
            "proof/",
            "audit/",
            "properties/",
        ]
        .iter()
        .any(|folder| inside.starts_with(folder));
        !inside.contains('/') || of_a_test || inside == "cases/score.rs"
    }));
    all
}

/// The lines that are code: neither comments nor the tests at the end of the file, which may parse a text to
/// have facts.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..tests].lines().enumerate().map(|(at, line)| (at + 1, line));
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

/// Whether a grouped import, `use crate::{a, b};`, names this room.
fn groups(line: &str, name: &str) -> bool {
    let (Some((_, group)), Some(room)) = (line.split_once("crate::{"), name.strip_prefix("crate::")) else {
        return false;
    };
    group.split(',').any(|part| part.trim().trim_end_matches(['}', ';']).split("::").next() == Some(room))
}

fn breaches(path: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if path.ends_with("/tests.rs") {
        return out;
    }
    for (rooms, forbidden) in LAYERS {
        if !rooms.iter().any(|room| path == *room || path.starts_with(&format!("{room}/"))) {
            continue;
        }
        for (at, line) in code(text) {
            out.extend(
                forbidden
                    .iter()
                    .filter(|name| names(line, name) || groups(line, name))
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
    assert_eq!(breaches("src/check.rs", "use crate::{cli, rules};\n"), ["src/check.rs:1 names crate::cli"]);
    let tested = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::sql::parse;\n}\n";
    assert_eq!(breaches("src/locks/x.rs", tested), Vec::<String>::new());
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
    for (path, _) in sources("src").into_iter().chain(sources("runtime/src")) {
        let stem = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(!EMPTY_NAMES.contains(&stem.as_str()), "{path} needs a name of its field");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("it is part of the repository");
    let manifest = |path| toml::from_str::<toml::Table>(&read(path)).expect("the manifest is TOML");
    let reasons = read("docs/dependencies.md");
    let mut named: BTreeSet<String> = dependencies(&manifest("Cargo.toml"));
    named.extend(dependencies(&manifest("runtime/Cargo.toml")));
    let rows = reasons.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('|'));
    let explained: BTreeSet<String> = rows
        .flat_map(|(names, _)| names.split(','))
        .map(|name| name.trim_matches([' ', '`']).to_owned())
        .collect();
    assert_eq!(explained, named, "docs/dependencies.md on the left, Cargo.toml on the right");
}

/// The names of all direct dependencies, those for one platform among them.
fn dependencies(manifest: &toml::Table) -> BTreeSet<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let tables = std::iter::once(manifest).chain(platforms.filter_map(|(_, table)| table.as_table()));
    let sections = tables.flat_map(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"].map(|section| table.get(section))
    });
    sections.flatten().filter_map(toml::Value::as_table).flat_map(toml::Table::keys).cloned().collect()
}
