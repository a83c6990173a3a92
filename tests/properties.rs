//! What must hold for any input, tried on random ones. `LEASELINT_CASES=100` tries a hundred times as many of them as
//! fit into a usual run of the tests; a failure prints the smallest input that shows it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "properties/facts.rs"]
mod facts;
#[path = "properties/fingerprints.rs"]
mod fingerprints;
#[path = "properties/histories.rs"]
mod histories;
#[path = "properties/keys.rs"]
mod keys;
#[path = "properties/literals.rs"]
mod literals;
#[path = "properties/reports.rs"]
mod reports;
#[path = "properties/runs.rs"]
mod runs;
#[path = "properties/suppressions.rs"]
mod suppressions;

use proptest::test_runner::Config;

/// So many cases of a property are tried in a usual run.
fn cases(usual: u32) -> Config {
    let times: u32 =
        std::env::var("LEASELINT_CASES").map_or(1, |times| times.parse().expect("it is a number"));
    Config { cases: usual * times, failure_persistence: None, ..Config::default() }
}
