//! Each rule has a page and fixtures, each page its sections, and no page or folder is left over.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use leaselint::rules;

const GROUPS: &[&str] =
    &["release", "acquire", "renew", "fence", "clock", "shutdown", "schema", "input", "suppression"];
const SECTIONS: &[&str] = &["What it does", "Why", "Bad", "Good", "What it does not flag", "References"];

fn names_in(folder: &str, suffix: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).expect("the folder is part of the repository");
    let names = entries.map(|entry| entry.expect("it can be listed")).filter_map(|entry| {
        let is_folder = entry.path().is_dir();
        let name = entry.file_name().into_string().expect("names are UTF-8");
        if suffix.is_empty() {
            is_folder.then_some(name)
        } else {
            name.strip_suffix(suffix).map(str::to_owned)
        }
    });
    names.collect()
}

fn rule_names() -> BTreeSet<String> {
    rules::all().iter().map(|rule| rule.name.to_owned()).collect()
}

#[test]
fn every_rule_has_a_page_and_no_page_is_left_over() {
    assert_eq!(names_in("rules", ".md"), rule_names());
}

#[test]
fn every_rule_has_fixtures_and_no_folder_is_left_over() {
    assert_eq!(names_in("fixtures", ""), rule_names());
    for rule in rule_names() {
        let cases = names_in(&format!("fixtures/{rule}"), "");
        for prefix in ["bad_", "good_"] {
            assert!(
                cases.iter().any(|case| case.starts_with(prefix)),
                "fixtures/{rule} has no {prefix} folder"
            );
        }
        let strange: Vec<_> =
            cases.iter().filter(|case| !case.starts_with("bad_") && !case.starts_with("good_")).collect();
        assert!(strange.is_empty(), "fixtures/{rule}: {strange:?} must be named bad_ or good_");
    }
}

#[test]
fn every_page_has_its_sections_in_order() {
    for rule in rules::all() {
        let lines: Vec<&str> = rule.page.lines().collect();
        assert_eq!(lines.first(), Some(&format!("# {}", rule.name).as_str()), "the title of {}", rule.name);
        let mut in_code = false;
        let sections: Vec<&str> = lines
            .iter()
            .filter(|line| {
                in_code ^= line.starts_with("```");
                !in_code
            })
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(sections, SECTIONS, "the sections of {}", rule.name);
        assert!(!in_code, "a code block of {} is not closed", rule.name);
    }
}

#[test]
fn every_section_says_something() {
    for rule in rules::all() {
        let sections = rule.page.split("\n## ").skip(1);
        let empty: Vec<&str> = sections
            .filter(|section| section.split_once('\n').is_none_or(|(_, body)| body.trim().is_empty()))
            .collect();
        assert!(empty.is_empty(), "{}: {empty:?} is empty", rule.name);
    }
}

/// The rules as README lists them, from the pages.
fn table_of_rules() -> String {
    let mut rows: Vec<(usize, String, String)> = Vec::new();
    for name in names_in("rules", ".md") {
        let path = format!("{}/rules/{name}.md", env!("CARGO_MANIFEST_DIR"));
        let page = fs::read_to_string(path).expect("pages are UTF-8");
        let front = page.split("+++\n").nth(1).expect("a page opens with its front matter");
        let front: toml::Table = toml::from_str(front).expect("front matter is TOML");
        let field = |key: &str| front[key].as_str().expect("a text").to_owned();
        let place = GROUPS.iter().position(|group| *group == field("group")).expect("a known group");
        let row = format!(
            "| [`{name}`](rules/{name}.md) | {} | {} | {} |\n",
            field("group"),
            field("level"),
            field("summary")
        );
        rows.push((place, name, row));
    }
    rows.sort();
    let rows: String = rows.into_iter().map(|(_, _, row)| row).collect();
    format!("| rule | group | level | reports |\n|---|---|---|---|\n{rows}")
}

#[test]
fn the_readme_lists_every_rule() {
    let path = format!("{}/README.md", env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(&path).expect("README is UTF-8");
    let (before, rest) =
        readme.split_once("<!-- rules:begin -->\n").expect("the mark where the table begins");
    let (table, after) = rest.split_once("<!-- rules:end -->").expect("the mark where the table ends");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        let text = format!("{before}<!-- rules:begin -->\n{}<!-- rules:end -->{after}", table_of_rules());
        fs::write(&path, text).expect("README can be written");
        return;
    }
    assert_eq!(table, table_of_rules(), "BLESS=1 cargo test --test rule_pages rewrites it");
}

#[test]
fn front_matter_names_known_groups_and_rules() {
    for rule in rules::all() {
        assert!(GROUPS.contains(&rule.group.as_str()), "{}: no such group: {}", rule.name, rule.group);
        let first = rule.summary.chars().next().expect("a summary");
        assert!(!first.is_uppercase() && !rule.summary.ends_with('.'), "{}: {:?}", rule.name, rule.summary);
        for lower in &rule.outranks {
            assert!(rules::find(lower).is_some(), "{} outranks {lower}, which is no rule", rule.name);
            assert_ne!(lower, rule.name);
        }
    }
}
