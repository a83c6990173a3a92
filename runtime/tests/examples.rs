//! The examples do what they say, each run as the program that its reader would run.

mod support;

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use support::servers::{self, Server};

/// Cargo builds examples for a run of all tests only, so have it done; nothing is built twice.
fn example(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    let test = std::env::current_exe().expect("a program has a path");
    let profile = test.ancestors().nth(2).expect("tests are two folders down");
    BUILT.call_once(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--examples", "--all-features"]);
        cargo.args(profile.ends_with("release").then_some("--release"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().expect("cargo runs the tests").success());
    });
    profile.join("examples").join(name)
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("the example was built");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn phantom_is_refused_and_would_corrupt_without_fencing() {
    let told = output(&mut Command::new(example("phantom")));
    assert!(told.contains("lease only: 80, leasehold: 70, leasehold without a clock: 70"), "{told}");
    assert!(told.contains("stops: lease `account` with token 1 has ended"), "{told}");
    assert!(
        told.contains("is refused: resource `account` has seen token 2, and this write came with 1"),
        "{told}"
    );
}

#[test]
fn bank_transfer_runs_with_nothing_installed() {
    let directory = servers::directory();
    let path = directory.path().join("bank.db");
    let workers: Vec<_> = (0..4)
        .map(|_| {
            Command::new(example("bank_transfer"))
                .arg(&path)
                .stdout(Stdio::piped())
                .spawn()
                .expect("the example was built")
        })
        .collect();
    for worker in workers {
        assert!(worker.wait_with_output().expect("it is our child").status.success());
    }
    let told = output(Command::new(example("bank_transfer")).arg(&path));
    assert_eq!(told, "moved 5: [(\"alice\", 75), (\"bob\", 125)]\n");
}

/// A worker that does not outlive the test, even when it fails.
struct Worker(Child);

impl Worker {
    fn start(redis: &Server, postgres: &Server) -> Self {
        let mut command = Command::new(example("cron_singleton"));
        command.args([servers::redis_address(redis), servers::postgres_address(postgres), "1".to_owned()]);
        Self(command.stdout(Stdio::piped()).spawn().expect("the example was built"))
    }

    /// Asks it to end, and gives what it has printed.
    fn terminate(mut self) -> String {
        kill_process(Pid::from_child(&self.0), Signal::TERM).expect("it is our child");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().expect("it is our child") {
                break status;
            }
            assert!(began.elapsed() < Duration::from_secs(8), "shutdown takes {:?}", began.elapsed());
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut told = String::new();
        let mut stdout = self.0.stdout.take().expect("it was asked for");
        stdout.read_to_string(&mut told).expect("it prints text");
        assert!(status.success(), "{status}: {told}");
        told
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

#[test]
fn cron_singleton_makes_each_report_once_and_ends_on_sigterm() {
    let (redis, postgres) = (servers::redis(), servers::postgres());
    let mut workers: Vec<Worker> = (0..3).map(|_| Worker::start(&redis, &postgres)).collect();
    let mut slots = Vec::new();
    while let Some(worker) = workers.pop() {
        std::thread::sleep(Duration::from_secs(3));
        let told = worker.terminate();
        slots.extend(told.lines().map(|line| line.split_whitespace().nth(1).unwrap_or_default().to_owned()));
    }
    let made = slots.len();
    slots.sort();
    slots.dedup();
    assert!(made >= 5, "only {made} reports in 9 seconds");
    assert_eq!(made, slots.len(), "a report was made twice");
}
