//! One test for each folder in `fixtures/<rule>/`: the built binary must find what the marks in the
//! files say, no less and no more, and print `expected.txt`.
//!
//! `BLESS=1 cargo test --test fixtures` rewrites each `expected.txt`; marks are written by hand only.

mod harness;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each case starts a process with threads of its own.
    arguments.test_threads.get_or_insert(2);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let trials = harness::cases(&root)
        .into_iter()
        .map(|case| Trial::test(case.name.clone(), move || harness::run(&case, bless).map_err(Into::into)));
    let mut trials: Vec<Trial> = trials.collect();
    trials.extend(harness::marks::self_tests());
    trials.push(harness::self_test());
    trials.push(Trial::test("there_are_cases", move || {
        let count = harness::cases(&root).len();
        if count < 20 { Err(format!("only {count} cases in {}", root.display()).into()) } else { Ok(()) }
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}
