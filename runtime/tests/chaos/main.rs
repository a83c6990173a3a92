//! Faults in the manner of Jepsen, on real processes and servers: workers are frozen, killed and told to end at every
//! stage of their work, servers crash, networks fail, clocks jump; a checker judges what is left. Repeatable by a
//! seed, as far as the choices go: which fault strikes whom, where and for how long.
//!
//! A few faults of each kind run with all other tests. The long run, with 200 faults and 10 000 writes a store:
//! `cargo test -p leasehold --all-features --test chaos -- --ignored --nocapture`; `LEASEHOLD_SEED` chooses another
//! seed.

#[path = "../support/mod.rs"]
mod support;

mod chance;
mod checker;
mod crew;
mod database;
mod faketime;
mod history;
mod ledger;
mod nemesis;
mod pool;
mod run;
mod stage;
mod stores;
mod subjects;
mod worker;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use run::Size;
use subjects::Subject;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == "--worker"
    {
        return worker::main(rest);
    }
    let trials = subjects::ALL.iter().flat_map(|subject| {
        let short = Size { faults: subject.faults.len().max(8) + 2, writes: 300, longest: 12 };
        let long = Size { faults: 200, writes: 10_000, longest: 29 };
        [
            trial("control", subject, control),
            trial("short", subject, move |subject| fenced(subject, short)),
            trial("long", subject, move |subject| fenced(subject, long)).with_ignored_flag(true),
        ]
    });
    let trials: Vec<Trial> = trials.collect();
    let mut wanted = Arguments::from_args();
    if !wanted.ignored && !wanted.include_ignored {
        // They mostly wait: for a TTL to end, for a server to start. Each has a database and four processes, though.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        wanted.test_threads.get_or_insert(3 * processors);
    }
    libtest_mimic::run(&wanted, trials).exit_code()
}

fn trial(
    kind: &str,
    subject: &'static Subject,
    run: impl FnOnce(&'static Subject) -> Result<(), String> + Send + 'static,
) -> Trial {
    Trial::test(format!("{}::{kind}", subject.name), move || run(subject).map_err(Failed::from))
}

fn seed() -> u64 {
    std::env::var("LEASEHOLD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}

fn fenced(subject: &'static Subject, size: Size) -> Result<(), String> {
    let report = run::fenced(subject, seed(), size);
    println!("{report}");
    report.shortcomings(subject)
}

/// The control: were it sound, the suite would prove nothing.
fn control(subject: &'static Subject) -> Result<(), String> {
    let report = run::control(subject, seed());
    if report.is_corrupted() { Ok(()) } else { Err(format!("without fencing nothing went wrong\n{report}")) }
}
