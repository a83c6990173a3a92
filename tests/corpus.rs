//! Runs the linter over the sources of published crates, pinned in `corpus/crates.toml`, and holds what it
//! reports against `corpus/findings.toml`, where every entry was read in the source and judged. The sources
//! come from a registry, so that test is ignored unless asked for:
//! `cargo test --release --test corpus -- --include-ignored --nocapture`.

#![allow(
    clippy::print_stdout,
    reason = "the counts are what a reader of the test log wants"
)]

#[path = "corpus/fetch.rs"]
mod fetch;
#[path = "corpus/record.rs"]
mod record;
#[allow(dead_code, reason = "each test reads other parts of a report")]
mod tool;

use std::collections::BTreeSet;
use std::time::Duration;

use fetch::{Kind, Pinned};
use record::{Place, Recorded, Verdict};
use tool::Finding;

/// Generous, for a debug build on a busy machine; a hang is what it is there to catch.
const LIMIT: Duration = Duration::from_secs(300);

fn recorded() -> Vec<Recorded> {
    record::parse(include_str!("corpus/findings.toml")).expect("findings.toml is well-formed")
}

#[test]
fn the_list_of_crates_is_well_formed() {
    let crates = fetch::pinned();
    let names: BTreeSet<&str> = crates.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(names.len(), crates.len(), "a crate is listed twice");
    assert!(crates.len() >= 30, "only {} crates", crates.len());
    for kind in [Kind::Lock, Kind::LookAlike] {
        assert!(
            crates.iter().any(|package| package.kind == kind),
            "no crate of the kind {kind:?}"
        );
    }
    for package in &crates {
        assert!(
            !package.what.is_empty(),
            "{} is not described",
            package.name
        );
        assert!(
            package.version.starts_with(|c: char| c.is_ascii_digit()),
            "{} is not pinned",
            package.name
        );
    }
}

#[test]
fn every_recorded_finding_has_been_judged() {
    let crates = fetch::pinned();
    for entry in recorded() {
        let place = entry.place();
        assert!(entry.is_explained(), "{place}: the verdict has no sentence");
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
        record::parse(&entry(
            "verdict = \"perhaps\"\nwhy = \"It deletes the lock of another.\""
        ))
        .is_err()
    );
    let hollow = record::parse(&entry("verdict = \"true\"\nwhy = \"yes\""))
        .expect("complete, though hollow");
    assert!(!hollow[0].is_explained());
}

#[test]
fn new_missing_and_moved_findings_are_told_apart() {
    let at = |line| Place {
        package: "a".into(),
        path: "src/lib.rs".into(),
        line,
        rule: "get-then-del".into(),
    };
    let difference = record::compare(&[at(1), at(2), at(2)], &[at(2), at(3)]);
    assert_eq!(difference.gone, [at(1), at(2)]);
    assert_eq!(difference.new, [at(3)]);
    assert!(record::compare(&[at(1), at(1)], &[at(1), at(1)]).is_empty());
}

#[test]
#[ignore = "gets some fifty crates from a registry; tests/run.sh asks for it"]
fn findings_on_published_crates_are_the_recorded_ones() {
    let recorded = recorded();
    let mut reported = Vec::new();
    let mut troubles = Vec::new();
    for package in fetch::pinned() {
        match findings(&package) {
            Ok(found) => report(&package, &found, &recorded, &mut reported),
            Err(trouble) => troubles.push(format!("{}: {trouble}", package.name)),
        }
    }
    print_verdicts(&recorded);
    let places: Vec<Place> = recorded.iter().map(Recorded::place).collect();
    let difference = record::compare(&places, &reported);
    troubles.extend(
        difference
            .new
            .iter()
            .map(|place| format!("not recorded: {place}")),
    );
    troubles.extend(
        difference
            .gone
            .iter()
            .map(|place| format!("no longer reported: {place}")),
    );
    assert!(
        troubles.is_empty(),
        "{}\n{}",
        troubles.len(),
        troubles.join("\n")
    );
}

fn findings(package: &Pinned) -> Result<Vec<Finding>, Box<dyn std::error::Error>> {
    Ok(tool::check(&fetch::sources(package)?, LIMIT)?)
}

/// Takes the findings of one crate over, and prints those that nobody has judged yet in full, since a place
/// alone does not let a reader judge.
fn report(package: &Pinned, found: &[Finding], recorded: &[Recorded], reported: &mut Vec<Place>) {
    for finding in found {
        let place = record::place(&package.name, finding);
        if !recorded.iter().any(|entry| entry.place() == place) {
            println!("{place} ({}): {}", finding.confidence, finding.message);
        }
        reported.push(place);
    }
}

fn print_verdicts(recorded: &[Recorded]) {
    let count = |verdict| {
        recorded
            .iter()
            .filter(|entry| entry.verdict == verdict)
            .count()
    };
    let (right, wrong) = (count(Verdict::True), count(Verdict::False));
    println!("published crates: {right} recorded findings are true, {wrong} are false");
}
