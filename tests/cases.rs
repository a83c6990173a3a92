//! Scores the linter on the labelled cases of `cases/` and fails below the minima that were promised. The
//! scoring is that of `eval/run_eval.py`, which stays for use by hand (`--show`, one group, other folders).

#![allow(clippy::print_stdout, reason = "the score is what a reader of the test log wants")]

#[path = "cases/score.rs"]
mod score;
#[allow(dead_code, reason = "each test reads other parts of a report")]
mod tool;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use score::{Expectations, Tally};

const LIMIT: Duration = Duration::from_secs(20);
/// The groups that the minima hold for; the others are printed all the same.
const PROMISED: [&str; 5] = ["release", "acquire", "fence", "clock", "shutdown"];
const MIN_PRECISION: f64 = 0.98;
const MIN_RECALL: f64 = 0.97;

#[test]
fn precision_and_recall_keep_their_minima() {
    let scratch = tempfile::tempdir().expect("a scratch folder can be made");
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut broken = Vec::new();
    let cases = cases();
    for case in &cases {
        let name = case.file_name().and_then(|name| name.to_str()).expect("case names are ASCII");
        let expected = expectations(case);
        let copy = scratch.path().join(name);
        copy_folder(case, &copy);
        let reported = tool::check(&copy, LIMIT).unwrap_or_else(|failure| {
            broken.push(format!("{name}: {failure}"));
            Vec::new()
        });
        let scored = score::score(&expected, &reported);
        for missed in &scored.missed {
            println!("MISSED {name}/{missed}");
        }
        for extra in &scored.extra {
            println!("FALSE  {name}/{}:{} {} ({})", extra.path, extra.line(), extra.rule, extra.confidence);
        }
        tallies.entry(expected.kind).or_default().add(&scored);
    }
    let total = print(&tallies, cases.len(), broken.len());
    assert!(broken.is_empty(), "the tool failed on {} cases:\n{}", broken.len(), broken.join("\n"));
    assert!(
        total.precision() >= MIN_PRECISION,
        "precision {:.3} is below {MIN_PRECISION}",
        total.precision()
    );
    assert!(total.recall() >= MIN_RECALL, "recall {:.3} is below {MIN_RECALL}", total.recall());
}

#[test]
fn every_case_can_be_read_and_each_promised_group_has_bad_and_clean_ones() {
    let expected: Vec<Expectations> = cases().iter().map(|case| expectations(case)).collect();
    for group in PROMISED {
        let of_group = || expected.iter().filter(|case| case.kind == group);
        assert!(of_group().any(|case| case.clean), "no clean case of {group}");
        assert!(of_group().any(|case| !case.finding.is_empty()), "no bad case of {group}");
    }
    for case in &expected {
        assert!(!case.clean || case.finding.is_empty(), "a clean case expects a finding");
    }
}

fn print(tallies: &BTreeMap<String, Tally>, cases: usize, broken: usize) -> Tally {
    let mut promised = Tally::default();
    for (kind, tally) in tallies {
        println!("{kind:12} {tally}");
        if PROMISED.contains(&kind.as_str()) {
            promised.merge(tally);
        }
    }
    println!("{:12} {promised}", "promised");
    println!("{cases} cases, {broken} broken");
    promised
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = fs::read_dir(&root).expect("tests/cases is part of the repository");
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    cases.retain(|path| path.join("expect.toml").is_file());
    cases.sort();
    assert!(!cases.is_empty(), "no case under {}", root.display());
    cases
}

fn expectations(case: &Path) -> Expectations {
    let file = case.join("expect.toml");
    let text = fs::read_to_string(&file).expect("cases() took only folders that hold one");
    toml::from_str(&text).unwrap_or_else(|err| panic!("{}: {err}", file.display()))
}

/// A case is checked away from this repository: its manifest, its `.gitignore` and the `tests/` in the path
/// would be taken for the case's own surroundings.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the scratch folder can be written");
    for entry in fs::read_dir(from).expect("the case can be listed") {
        let entry = entry.expect("the case can be listed");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target);
        } else if entry.file_name() != "expect.toml" {
            fs::copy(&source, &target).expect("the scratch folder can be written");
        }
    }
}
