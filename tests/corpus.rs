//! Runs the linter over the sources of published crates, pinned in `corpus/crates.toml`, and holds what it
//! reports against `corpus/findings.toml`, where every entry was read in the source and judged. The sources
//! come from a registry, so that test is ignored unless asked for:
//! `cargo test --release --test corpus -- --include-ignored --nocapture`.

#![allow(clippy::print_stdout, reason = "the counts are what a reader of the test log wants")]

#[path = "corpus/expected.rs"]
mod expected;
#[path = "corpus/fetch.rs"]
mod fetch;
#[path = "corpus/record.rs"]
mod record;
#[allow(dead_code, reason = "each test reads other parts of a report")]
mod tool;

use std::collections::BTreeSet;
use std::time::Duration;

use expected::{Expected, Grade, Reported};
use fetch::{Kind, Pinned};
use record::{Place, Recorded, Verdict};
use tool::Finding;

/// Generous, for a debug build on a busy machine; a hang is what it is there to catch.
const LIMIT: Duration = Duration::from_secs(300);

fn recorded() -> Vec<Recorded> {
    record::parse(include_str!("corpus/findings.toml")).expect("findings.toml is well-formed")
}

fn read_by_hand() -> Vec<Expected> {
    expected::parse(include_str!("corpus/expected.md")).expect("expected.md is well-formed")
}

#[test]
fn the_list_of_crates_is_well_formed() {
    let crates = fetch::pinned();
    let names: BTreeSet<&str> = crates.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(names.len(), crates.len(), "a crate is listed twice");
    assert!(crates.len() >= 30, "only {} crates", crates.len());
    for kind in [Kind::Lock, Kind::LookAlike] {
        assert!(crates.iter().any(|package| package.kind == kind), "no crate of the kind {kind:?}");
    }
    for package in &crates {
        assert!(!package.what.is_empty(), "{} is not described", package.name);
        assert!(package.version.starts_with(|c: char| c.is_ascii_digit()), "{} is not pinned", package.name);
    }
}

#[test]
fn every_recorded_finding_has_been_judged() {
    let crates = fetch::pinned();
    for entry in recorded() {
        let place = entry.place();
        assert!(entry.is_explained(), "{place}: the verdict has no sentence");
        assert!(
            !is_unreadable_source(&place),
            "{place}: published crates compile, so their sources can be read"
        );
        assert!(
            crates.iter().any(|package| package.name == entry.package),
            "{place}: no such crate in the list"
        );
    }
}

#[test]
fn a_record_without_verdict_or_sentence_is_refused() {
    let entry = |rest: &str| {
        format!("[[finding]]\ncrate = \"a\"\npath = \"src/lib.rs\"\nline = 1\nrule = \"r\"\n{rest}")
    };
    assert!(record::parse(&entry("why = \"It deletes the lock of another.\"")).is_err());
    assert!(record::parse(&entry("verdict = \"true\"")).is_err());
    assert!(
        record::parse(&entry("verdict = \"perhaps\"\nwhy = \"It deletes the lock of another.\"")).is_err()
    );
    let hollow = record::parse(&entry("verdict = \"true\"\nwhy = \"yes\"")).expect("complete, though hollow");
    assert!(!hollow[0].is_explained());
}

#[test]
fn new_missing_and_moved_findings_are_told_apart() {
    let at =
        |line| Place { package: "a".into(), path: "src/lib.rs".into(), line, rule: "get-then-del".into() };
    let difference = record::compare(&[at(1), at(2), at(2)], &[at(2), at(3)]);
    assert_eq!(difference.gone, [at(1), at(2)]);
    assert_eq!(difference.new, [at(3)]);
    assert!(record::compare(&[at(1), at(1)], &[at(1), at(1)]).is_empty());
}

#[test]
fn what_was_read_by_hand_speaks_of_the_pinned_versions() {
    let crates = fetch::pinned();
    let entries = read_by_hand();
    for entry in &entries {
        let package = crates.iter().find(|package| package.name == entry.package);
        let version = package.map(|package| package.version.as_str());
        assert_eq!(version, Some(entry.version.as_str()), "{entry}: not the version of crates.toml");
    }
    for package in crates.iter().filter(|package| package.kind == Kind::Lock) {
        assert!(entries.iter().any(|entry| entry.package == package.name), "{} was not read", package.name);
    }
}

#[test]
fn a_run_is_compared_with_what_was_read() {
    let text = "## a 1.0.0\n- sure · src/lib.rs:10 · get-then-del · It deletes.\n- sure · src/lib.rs:50 · \
        split-acquire · Two commands.\n- silent · src/lib.rs:20-30 · any · A cache.\n";
    let entries = expected::parse(text).expect("well-formed");
    assert_eq!(entries.iter().filter(|entry| entry.grade == Grade::Sure).count(), 2);
    let at =
        |line, rule: &str| Place { package: "a".into(), path: "src/lib.rs".into(), line, rule: rule.into() };
    let alone = |line, rule: &str| Reported { place: at(line, rule), beside: Vec::new() };
    let elsewhere = Reported { place: at(70, "split-acquire"), beside: vec![at(50, "split-acquire")] };
    assert_eq!(expected::agreement(&entries, &[elsewhere]).len(), 2, "one of the two is reported");
    let reported = [alone(11, "get-then-del"), alone(25, "lock-without-ttl"), alone(90, "r")];
    let lines = expected::agreement(&entries, &reported);
    assert_eq!(
        lines,
        [
            "read, not reported: a src/lib.rs:50 split-acquire",
            "reported where the reader says silence: a src/lib.rs:25 lock-without-ttl",
            "against the reader: 1 of 2 sure defects reported; of 3 findings 1 agree, 1 are refused, 1 are not mentioned",
        ]
    );
    assert!(expected::parse("## a 1.0.0\n- sure · src/lib.rs · get-then-del · No line.").is_err());
    assert!(expected::parse("## a 1.0.0\n- certain · src/lib.rs:1 · get-then-del · No such grade.").is_err());
}

#[test]
#[ignore = "gets some fifty crates from a registry; tests/run.sh asks for it"]
fn findings_on_published_crates_are_the_recorded_ones() {
    let recorded = recorded();
    let mut reported = Vec::new();
    let mut troubles = Vec::new();
    let read = read_by_hand();
    for package in fetch::pinned() {
        match findings(&package, &read) {
            Ok(found) => {
                troubles.extend(without_run(&package, &found));
                report(&package, &found, &recorded, &mut reported);
            }
            Err(trouble) => troubles.push(format!("{}: {trouble}", package.name)),
        }
    }
    for line in expected::agreement(&read, &reported) {
        println!("{line}");
    }
    print_verdicts(&recorded);
    let places: Vec<Place> = recorded.iter().map(Recorded::place).collect();
    let reported: Vec<Place> = reported.into_iter().map(|finding| finding.place).collect();
    let difference = record::compare(&places, &reported);
    troubles.extend(difference.new.iter().map(|place| format!("not recorded: {place}")));
    troubles.extend(difference.gone.iter().map(|place| format!("no longer reported: {place}")));
    assert!(troubles.is_empty(), "{}\n{}", troubles.len(), troubles.join("\n"));
}

fn findings(package: &Pinned, read: &[Expected]) -> Result<Vec<Finding>, Box<dyn std::error::Error>> {
    let folder = fetch::sources(package)?;
    let of_this_crate = read.iter().filter(|entry| entry.package == package.name);
    if let Some(fault) = of_this_crate.filter_map(|entry| entry.fault(&folder)).next() {
        return Err(format!("expected.md names a place that does not exist: {fault}").into());
    }
    Ok(tool::check(&folder, LIMIT)?)
}

/// Findings about protocols that the model cannot reach.
fn without_run(package: &Pinned, found: &[Finding]) -> Vec<String> {
    let is_about_one = |finding: &&Finding| {
        ["release", "acquire", "renew", "fence"].contains(&finding.group.as_str())
            && finding.counterexample.is_empty()
    };
    let all = found.iter().filter(is_about_one);
    all.map(|finding| {
        format!("no run leads to {}: {}", record::place(&package.name, finding), finding.message)
    })
    .collect()
}

/// Takes the findings of one crate over, and prints those that nobody has judged yet in full, since a place
/// alone does not let a reader judge.
fn report(package: &Pinned, found: &[Finding], recorded: &[Recorded], reported: &mut Vec<Reported>) {
    for finding in found {
        let place = record::place(&package.name, finding);
        if !recorded.iter().any(|entry| entry.place() == place) {
            println!("{place} ({}): {}", finding.confidence, finding.message);
        }
        let beside = record::places_beside(&package.name, finding);
        reported.push(Reported { place, beside });
    }
}

/// Outside of `src/` a crate may well keep templates and deliberately broken code.
fn is_unreadable_source(place: &Place) -> bool {
    place.rule == "unreadable-input" && place.path.starts_with("src/") && place.path.ends_with(".rs")
}

fn print_verdicts(recorded: &[Recorded]) {
    let count = |verdict| recorded.iter().filter(|entry| entry.verdict == verdict).count();
    let (right, wrong) = (count(Verdict::True), count(Verdict::False));
    println!("published crates: {right} recorded findings are true, {wrong} are false");
}
