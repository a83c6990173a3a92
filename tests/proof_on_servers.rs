//! The model against real servers: every run that the model finds for a fixture is driven, step by step, through a
//! real Redis or PostgreSQL, and after each step the store and the row must be as the model says. So each harm is
//! also seen there. The servers are started by the test, so it is ignored unless asked for:
//! `cargo test --release --test proof_on_servers -- --include-ignored --nocapture`.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "the figures are what a reader of the test log wants")]

#[path = "proof/real.rs"]
mod real;
#[allow(dead_code, reason = "SQL forms need more of it")]
#[path = "databases/servers.rs"]
mod servers;
#[allow(dead_code, reason = "each test reads other trees")]
#[path = "proof/trees.rs"]
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use leaselint::harm::Harm;
use leaselint::proof::explore::Run;
use leaselint::proof::protocol::{Asks, Command, Guard, Life, Owner, Sets, Store, TokenOf};
use leaselint::proof::system::{Effect, Program, Seen, State, What};
use leaselint::proof::{is_about_a_protocol, shortest};

use real::{Locks, Redis, Rows};
use servers::Server;
use trees::{Examined, examine, fixtures};

/// Of a lock that ends within its run. On a busy machine the steps before that may take longer, so that a run is
/// tried again with a longer one; what servers do otherwise than the model, they do each time.
const SHORT: [u64; 4] = [1_000, 3_000, 9_000, 27_000];
const LONG: u64 = 600_000;

#[test]
#[ignore = "starts Redis and PostgreSQL; tests/run.sh asks for it"]
fn runs_of_the_model_happen_on_real_servers() {
    let mut runs: BTreeMap<String, (Store, Program, Run)> = BTreeMap::new();
    let mut others = 0;
    for folder in fixtures() {
        let Examined { report, audit, .. } = examine(&folder);
        for finding in report.findings.iter().filter(|finding| is_about_a_protocol(finding)) {
            let Some((scenario, run)) = shortest(&audit.protocols, finding) else { continue };
            let store = scenario.protocol.store;
            match can_be_driven(store, &scenario.program) {
                true => drop(
                    runs.insert(signature(store, &scenario.program, &run), (store, scenario.program, run)),
                ),
                false => others += 1,
            }
        }
    }
    let (redis, postgres) = (Redis::start(), Server::postgres());
    let rows = Rows(&postgres);
    let (_, complaint) = postgres.script(real::SCHEMA);
    assert!(complaint.is_empty(), "{complaint}");
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (store, program, run) in runs.values() {
        let locks: &dyn Locks = if *store == Store::Keys { &redis } else { &rows };
        let drive =
            |short| Drive { locks, rows: &rows, program, run, short, workers: Default::default() }.drive();
        let is_timed = run.moments.iter().any(|(event, _)| event.what == What::Expires);
        let mut outcome = drive(SHORT[0]);
        for short in SHORT.iter().skip(1).filter(|_| is_timed) {
            if outcome.is_err() {
                outcome = drive(*short);
            }
        }
        match outcome {
            Ok(()) => drop(seen.insert(run.harm)),
            Err(difference) => {
                wrong.push(format!("{:?} {store:?}: {difference}\n{:?}", run.harm, program.main))
            }
        }
    }
    println!("{} different runs were driven, {others} are about sessions or other rows", runs.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
    let unseen: Vec<Harm> = Harm::ALL.into_iter().filter(|harm| !seen.contains(harm)).collect();
    assert!(unseen.is_empty(), "not shown on a server: {unseen:?}");
}

/// Sessions end with connections, and what refuses a write elsewhere is not in the model.
fn can_be_driven(store: Store, program: &Program) -> bool {
    let fits = |command: Command| match command {
        Command::Write { guard: Guard::Elsewhere, .. } => false,
        // These ask the lease row, which has to be in the same database.
        Command::Write { guard: Guard::Holder | Guard::Same, .. } => store != Store::Keys,
        Command::Extend { revives, .. } => !revives,
        _ => true,
    };
    store != Store::Session && program.main.iter().chain(&program.renewal).all(|step| fits(step.command))
}

fn signature(store: Store, program: &Program, run: &Run) -> String {
    let commands: Vec<Command> =
        program.main.iter().chain(&program.renewal).map(|step| step.command).collect();
    let events: Vec<_> = run.moments.iter().map(|(event, _)| event).collect();
    format!("{:?} {store:?} {commands:?} {events:?}", run.harm)
}

/// What a worker remembers.
#[derive(Default)]
struct Memory {
    seen: Option<Seen>,
    renewal_seen: Option<Seen>,
    token: i64,
    read: i64,
}

struct Drive<'d> {
    locks: &'d dyn Locks,
    rows: &'d Rows<'d>,
    program: &'d Program,
    run: &'d Run,
    short: u64,
    workers: [Memory; 2],
}

impl Drive<'_> {
    fn drive(mut self) -> Result<(), String> {
        self.rows.reset();
        self.locks.reset();
        for at in 0..self.run.moments.len() {
            let (event, after) = &self.run.moments[at];
            let did = match event.what {
                What::Step(step, effect) => {
                    self.command(event.worker, self.program.main[step].command, effect, at, false)
                }
                What::Renewal(step, effect) => {
                    self.command(event.worker, self.program.renewal[step].command, effect, at, true)
                }
                What::Repeats(step, accepted) => {
                    let effect = if accepted { Effect::Done } else { Effect::Refused };
                    self.command(event.worker, self.program.main[step].command, effect, at, false)
                }
                What::Expires => self.expiry(),
                What::Pauses
                | What::Crashes
                | What::RenewalFails
                | What::RenewalLate
                | What::TaskLost(_)
                | What::ReleaseFails(_) => Ok(()),
            };
            did.map_err(|message| format!("step {} {event:?}: {message}", at + 1))?;
            self.compare(after).map_err(|message| format!("behind step {} {event:?}: {message}", at + 1))?;
        }
        Ok(())
    }

    fn expiry(&self) -> Result<(), String> {
        let began = Instant::now();
        while self.locks.holder().is_some() {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("the lock does not end".to_owned());
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Whether the servers are as the model says.
    fn compare(&self, model: &State) -> Result<(), String> {
        let wanted = model.lock.map(|held| self.value(held.by));
        let found = self.locks.holder();
        if wanted != found {
            return Err(format!("held by {found:?}, and by {wanted:?} in the model"));
        }
        let row = &model.row;
        let writer = row.writer.map(|worker| format!("w{worker}")).unwrap_or_default();
        let wanted = (i64::from(row.token), writer, i64::from(row.writes));
        let found = self.rows.row();
        // A version is counted from where it was, a token comes from the store: both are those of the model.
        if wanted != found {
            Err(format!("the row is {found:?}, and {wanted:?} in the model"))
        } else {
            Ok(())
        }
    }

    /// What a worker stores to be recognised.
    fn value(&self, worker: usize) -> String {
        let shared = self
            .program
            .main
            .iter()
            .any(|step| matches!(step.command, Command::Take { owner: Owner::Shared, .. }));
        if shared { "shared".to_owned() } else { format!("w{worker}") }
    }

    /// How long a lock that is taken or extended at this moment has to last.
    fn millis(&self, life: Life, at: usize) -> Option<u64> {
        let ends = self.run.moments[at..].iter().any(|(event, _)| event.what == What::Expires);
        match life {
            Life::Timed | Life::TooShort if ends => Some(self.short),
            Life::Timed | Life::TooShort | Life::TooLong => Some(LONG),
            Life::Endless | Life::Session | Life::PooledSession => None,
        }
    }

    fn command(
        &mut self,
        worker: usize,
        command: Command,
        effect: Effect,
        at: usize,
        renews: bool,
    ) -> Result<(), String> {
        let own = self.value(worker);
        let seen = if renews { self.workers[worker].renewal_seen } else { self.workers[worker].seen };
        let expect = |name: &str, wanted: bool, found: bool| {
            (wanted == found).then_some(()).ok_or(format!("{name}: {found}, and {wanted} in the model"))
        };
        match command {
            Command::Look => {
                let found = match self.locks.holder() {
                    None => Seen::Free,
                    Some(holder) if holder == own => Seen::Own,
                    Some(_) => Seen::Other,
                };
                let memory = &mut self.workers[worker];
                *(if renews { &mut memory.renewal_seen } else { &mut memory.seen }) = Some(found);
                expect("looks", effect == Effect::Saw(found), true)
            }
            // The store does not answer.
            Command::Take { .. } if effect == Effect::Nothing => Ok(()),
            Command::Take { asks, life, token, .. } => {
                let is_sent = asks != Asks::Remembered || seen == Some(Seen::Free);
                let millis = self.millis(life, at);
                let take = || self.locks.take(&own, asks == Asks::Stored, millis, token == TokenOf::Take);
                let took = is_sent.then(take).flatten();
                if let Some(token) = took {
                    self.workers[worker].token = token;
                }
                expect("takes", effect == Effect::Took, took.is_some())
            }
            Command::Extend { asks, life, .. } => {
                let is_sent = asks != Asks::Remembered || seen == Some(Seen::Own);
                let done = is_sent && self.locks.extend(&own, asks == Asks::Stored, self.millis(life, at));
                expect("extends", effect == Effect::Done, done)
            }
            Command::Free { asks, .. } => {
                let is_sent = asks != Asks::Remembered || seen == Some(Seen::Own);
                let done = is_sent && self.locks.free(&own, asks == Asks::Stored);
                expect("frees", effect == Effect::Done, done)
            }
            Command::Draw(_) => {
                let Effect::Drew(token) = effect else { return Err("no token in the model".to_owned()) };
                let is_made_up =
                    matches!(command, Command::Draw(leaselint::proof::protocol::Source::Process));
                self.workers[worker].token = if is_made_up { i64::from(token) } else { self.locks.draw() };
                expect("draws", self.workers[worker].token == i64::from(token), true)
            }
            Command::Read => {
                self.workers[worker].read = self.rows.row().0;
                Ok(())
            }
            Command::ReadVersion => {
                self.workers[worker].token = self.rows.row().0;
                Ok(())
            }
            Command::Write { guard, sets, .. } => {
                expect("writes", effect == Effect::Done, self.write(worker, guard, sets))
            }
            Command::Decide | Command::Check | Command::Work | Command::Leave | Command::Detach => Ok(()),
        }
    }

    fn write(&self, worker: usize, guard: Guard, sets: Sets) -> bool {
        let Memory { token, read, .. } = self.workers[worker];
        let condition = match guard {
            Guard::Nothing | Guard::Loose | Guard::Elsewhere => "true".to_owned(),
            Guard::Newer => format!("token < {token}"),
            Guard::NewerOrSame => format!("token <= {token}"),
            Guard::SameVersion => format!("token = {token}"),
            Guard::NotSame => format!("token <> {token}"),
            Guard::Older => format!("token > {token}"),
            Guard::Same => format!("{token} = (SELECT token FROM lease)"),
            Guard::Holder => format!(
                "EXISTS (SELECT 1 FROM lease WHERE holder = '{}' AND ends_at > clock_timestamp())",
                self.value(worker)
            ),
            Guard::RememberedNewer => (read < token).to_string(),
        };
        let new = match sets {
            Sets::Kept => "token".to_owned(),
            Sets::Token => token.to_string(),
            Sets::Raised => "token + 1".to_owned(),
            Sets::First => "30".to_owned(),
        };
        self.rows.write(&format!("w{worker}"), &new, &condition)
    }
}
