//! What must hold for any input, tried on random ones. `LEASELINT_CASES=100000` tries more of them than the few that
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

/// How many cases of a property are tried, when the environment does not say.
fn cases(usual: u32) -> Config {
    let asked = std::env::var("LEASELINT_CASES").ok().and_then(|count| count.parse().ok());
    Config { cases: asked.unwrap_or(usual), failure_persistence: None, ..Config::default() }
}
