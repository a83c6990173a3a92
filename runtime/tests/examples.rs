//! The examples do what they say, each run as the program that its reader would run.

mod support;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
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
    fn cron(redis: &Server, postgres: &Server) -> Self {
        let mut command = Command::new(example("cron_singleton"));
        command.args([servers::redis_address(redis), servers::postgres_address(postgres), "1".to_owned()]);
        Self(command.stdout(Stdio::piped()).spawn().expect("the example was built"))
    }

    fn candidate(etcd: &Server, name: &str, output: &Path) -> Self {
        let mut command = Command::new(example("leader_election"));
        command.args([&servers::etcd_address(etcd), name]);
        let output = File::options().append(true).create(true).open(output).expect("the folder is ours");
        Self(command.stdout(output).spawn().expect("the example was built"))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it is our child");
    }

    /// Asks it to end, and gives what it has printed to us.
    fn terminate(mut self) -> String {
        self.signal(Signal::TERM);
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().expect("it is our child") {
                break status;
            }
            assert!(began.elapsed() < Duration::from_secs(8), "shutdown takes {:?}", began.elapsed());
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut told = String::new();
        if let Some(mut stdout) = self.0.stdout.take() {
            stdout.read_to_string(&mut told).expect("it prints text");
        }
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
    let mut workers: Vec<Worker> = (0..3).map(|_| Worker::cron(&redis, &postgres)).collect();
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

/// Waits until the file has so many lines, and gives them.
fn lines(path: &Path, many: usize) -> Vec<String> {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.len() >= many {
            return lines;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "only {lines:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The number of the term in a line such as `a leads, term 7`.
fn term(line: &str, name: &str) -> u64 {
    let term = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(" leads, term "));
    term.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{name} does not lead: {line}"))
}

#[test]
fn a_frozen_leader_is_followed_by_another_and_knows_it_when_it_goes_on() {
    let (etcd, directory) = (servers::etcd(), servers::directory());
    let told = directory.path().join("told");
    let first = Worker::candidate(&etcd, "a", &told);
    let before = term(&lines(&told, 1)[0], "a");
    let second = Worker::candidate(&etcd, "b", &told);
    std::thread::sleep(Duration::from_secs(4));
    first.signal(Signal::STOP);
    // Its lease ends, and the other one is told.
    let after = term(&lines(&told, 2)[1], "b");
    assert!(after > before, "{after} follows {before}");
    first.signal(Signal::CONT);
    let stopped = &lines(&told, 3)[2];
    assert!(stopped.starts_with("a has stopped: lease `example/leader`"), "{stopped}");
    // It stands again, and leads as soon as the other one resigns.
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    second.terminate();
    let all = lines(&told, 6);
    assert!(all[3].starts_with("b has stopped"), "{all:?}");
    // Two processes write; which line comes first is chance.
    let (next, resigned) = if all[4].contains("leads") { (&all[4], &all[5]) } else { (&all[5], &all[4]) };
    assert_eq!(resigned, "b has resigned");
    assert!(term(next, "a") > after, "{all:?}");
    assert!(asked.elapsed() < Duration::from_secs(3), "it waited for the TTL");
    first.terminate();
}
