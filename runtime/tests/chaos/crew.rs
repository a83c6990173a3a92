//! The worker processes of a run: started, struck by signals, and replaced.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::faketime;
use crate::stage::Stage;
use crate::worker::{Brief, Manner};

/// How long a worker may take to come to a stage, and to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);

/// The worker whose own clock stands still.
pub const BLIND: usize = 1;

/// What is the same for all workers of a run.
#[derive(Debug, Clone)]
pub struct Terms {
    pub store: String,
    pub ledger: String,
    pub fenced: bool,
    pub ttl: Duration,
    pub seed: u64,
    pub directory: PathBuf,
}

pub struct Crew {
    terms: Terms,
    members: Vec<Member>,
    /// One for each process there ever was.
    journals: Vec<PathBuf>,
}

struct Member {
    child: Child,
    orders: ChildStdin,
}

impl Crew {
    pub fn start(terms: Terms, size: usize) -> Self {
        let mut crew = Self { terms, members: Vec::new(), journals: Vec::new() };
        for index in 0..size {
            let member = crew.spawn(index);
            crew.members.push(member);
        }
        crew
    }

    pub fn size(&self) -> usize {
        self.members.len()
    }

    pub fn journals(&self) -> &[PathBuf] {
        &self.journals
    }

    /// The file that says what time the first worker's wall clock shows.
    pub fn clock(directory: &Path) -> PathBuf {
        directory.join("worker-clock")
    }

    fn spawn(&mut self, index: usize) -> Member {
        let number = self.journals.len();
        let journal = self.terms.directory.join(format!("journal-{number}"));
        let manner = match (self.terms.fenced, index) {
            (false, _) => Manner::Plain,
            (true, BLIND) => Manner::Blind,
            (true, _) => Manner::Fenced,
        };
        let brief = Brief {
            store: self.terms.store.clone(),
            ledger: self.terms.ledger.clone(),
            journal: journal.display().to_string(),
            manner,
            ttl: self.terms.ttl,
            seed: self.terms.seed.wrapping_add(number as u64),
            first_op: (i64::try_from(number).expect("there are few") + 1) * 1_000_000,
        };
        let mut command = Command::new(std::env::current_exe().expect("a program has a path"));
        command.arg("--worker").args(brief.arguments()).stdin(Stdio::piped());
        if index == 0 {
            command.envs(faketime::preload(&Self::clock(&self.terms.directory)));
        }
        let errors = fs::File::create(journal.with_extension("stderr")).expect("the directory is ours");
        let mut child = command.stderr(errors).spawn().expect("this program can be started again");
        let orders = child.stdin.take().expect("it was asked for");
        self.journals.push(journal);
        Member { child, orders }
    }

    /// Gives an order, as `worker` takes them.
    pub fn order(&mut self, index: usize, words: &str) {
        // A worker that has ended is found out elsewhere.
        let _sent = writeln!(self.members[index].orders, "{words}");
    }

    fn signal(&self, index: usize, signal: Signal) {
        let pid = Pid::from_child(&self.members[index].child);
        kill_process(pid, signal).expect("a child that was not waited for can be signalled");
    }

    /// Has a worker stop at a stage, and go on after `span`.
    pub fn freeze(&mut self, index: usize, stage: Stage, span: Duration) {
        self.stop(index, stage);
        sleep(span);
        self.go_on(index);
    }

    /// Has a worker stop at a stage, until it is told to go on.
    pub fn stop(&mut self, index: usize, stage: Stage) {
        self.order(index, &format!("at {stage:?} STOP"));
        let began = Instant::now();
        while !self.is_stopped(index) {
            if began.elapsed() > PATIENCE {
                // It does not come there; then anywhere.
                self.signal(index, Signal::STOP);
            }
            sleep(Duration::from_millis(5));
        }
    }

    pub fn go_on(&self, index: usize) {
        self.signal(index, Signal::CONT);
    }

    fn is_stopped(&self, index: usize) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.members[index].child.id()));
        let stat = stat.expect("a child that was not waited for is listed");
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        after_name.split_whitespace().next() == Some("T")
    }

    /// Has a worker kill itself at a stage, and starts another one in its place.
    pub fn kill(&mut self, index: usize, stage: Stage) {
        self.order(index, &format!("at {stage:?} KILL"));
        self.ended(index, PATIENCE, Signal::KILL);
        self.members[index] = self.spawn(index);
    }

    /// Has a worker send itself SIGTERM at a stage, sees that it ends as it should, and replaces it.
    pub fn terminate(&mut self, index: usize, stage: Stage) -> Result<(), String> {
        self.order(index, &format!("at {stage:?} TERM"));
        let status = self.ended(index, PATIENCE, Signal::TERM);
        self.members[index] = self.spawn(index);
        if status.success() { Ok(()) } else { Err(format!("SIGTERM at {stage:?}: {status}")) }
    }

    /// Waits for a worker's end, and sends it a signal when it has not come to its own.
    fn ended(&mut self, index: usize, patience: Duration, signal: Signal) -> ExitStatus {
        let began = Instant::now();
        let mut sent = false;
        loop {
            if let Some(status) = self.members[index].child.try_wait().expect("it is our child") {
                return status;
            }
            if !sent && began.elapsed() > patience {
                self.signal(index, signal);
                sent = true;
            }
            if began.elapsed() > patience * 2 {
                self.signal(index, Signal::KILL);
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// Workers that have ended by themselves, as none may.
    pub fn deserters(&mut self) -> Vec<String> {
        let mut gone = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            if let Some(status) = member.child.try_wait().expect("it is our child") {
                gone.push(format!("worker {index} has ended by itself: {status}"));
            }
        }
        gone
    }

    /// Ends all with SIGTERM. What they said on standard error comes back, and how they ended if not well.
    pub fn dismiss(mut self) -> Vec<String> {
        let mut complaints = self.deserters();
        if complaints.is_empty() {
            for index in 0..self.size() {
                self.signal(index, Signal::TERM);
            }
            for index in 0..self.size() {
                let status = self.ended(index, PATIENCE, Signal::TERM);
                if !status.success() {
                    complaints.push(format!("worker {index} ended with {status}"));
                }
            }
        }
        for journal in &self.journals {
            let said = fs::read_to_string(journal.with_extension("stderr")).unwrap_or_default();
            if !said.is_empty() {
                complaints.push(said);
            }
        }
        complaints
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for member in &mut self.members {
            // Most have ended already.
            let _ended = member.child.kill();
            let _reaped = member.child.wait();
        }
    }
}
