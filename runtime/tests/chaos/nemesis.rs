//! The faults: which strike, chosen by a seed, and how each is done and healed. One at a time, so that a violation
//! has one fault before it.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use leasehold::store::{Acquisition, Claim};
use leasehold::{LeaseKey, LeaseStore, OwnerValue};

use crate::chance::Chance;
use crate::crew::{BLIND, Crew};
use crate::database::Database;
use crate::faketime;
use crate::history::now;
use crate::run::Size;
use crate::stage::Stage;
use crate::stores::Store;
use crate::subjects::Arena;
use crate::worker::ACCOUNTS;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// SIGSTOP at a stage, and SIGCONT up to three TTLs later.
    Freeze,
    /// SIGKILL at a stage.
    Kill,
    /// SIGTERM at a stage.
    Terminate,
    /// The wall clock of a worker, by an hour.
    WorkerClock,
    /// The wall clock of the server that judges leases, by an hour.
    ServerClock,
    /// SIGKILL for the server of the protected data.
    CrashLedger,
    /// SIGKILL for the server of the leases, which finds them on its disk again.
    CrashLeases,
    /// The same, and it finds nothing.
    LoseLeases,
    /// Consul has no leader for a while, and then another one, which counts TTLs anew.
    NoLeader,
    /// The database closes all its sessions.
    EndSessions,
    /// All connections are closed.
    Cut,
    /// Every piece comes late.
    Delay,
    /// Nothing goes through, in either direction.
    HalfOpen,
    /// Requests are obeyed, answers are lost.
    Deaf,
    /// The pool for the work has no connection to give.
    Exhaust,
    /// Somebody else has the write lock of the file.
    LockFile,
}

#[derive(Debug, Clone)]
pub struct Fault {
    pub kind: Kind,
    worker: usize,
    stage: Stage,
    span: Duration,
    /// For whatever else has to be chosen.
    choice: usize,
}

/// So many faults, each kind as often as the others, in an order by chance.
pub fn plan(kinds: &[Kind], size: Size, crew: usize, ttl: Duration, chance: &mut Chance) -> Vec<Fault> {
    // The holder whose clock stands still first, so that a run without any stale write is not by chance.
    let mut all = vec![asleep(BLIND, ttl), asleep(BLIND, ttl)];
    let mut stages: Vec<Stage> = Vec::new();
    while all.len() < size.faults {
        let mut round = kinds.to_vec();
        chance.shuffle(&mut round);
        for kind in round.into_iter().take(size.faults - all.len()) {
            // Every stage before any again.
            if stages.is_empty() {
                stages = Stage::ALL.to_vec();
                chance.shuffle(&mut stages);
            }
            let stage = match kind {
                Kind::Freeze | Kind::Kill | Kind::Terminate => stages.pop().unwrap_or(Stage::Read),
                _ => Stage::Read,
            };
            let worker = usize::try_from(chance.below(crew as u64)).expect("it is small");
            let tenths = 5 + chance.below(u64::from(size.longest.saturating_sub(5)) + 1);
            let span = ttl / 10 * u32::try_from(tenths).expect("it is small");
            let choice = usize::try_from(chance.below(1000)).expect("it is small");
            all.push(Fault { kind, worker, stage, span, choice });
        }
    }
    all
}

/// Always the worst that can happen to a holder without fencing: it has read, and sleeps over its TTL.
pub fn freezes(faults: usize, crew: usize, ttl: Duration) -> Vec<Fault> {
    (0..faults).map(|number| asleep(number % crew, ttl)).collect()
}

fn asleep(worker: usize, ttl: Duration) -> Fault {
    Fault { kind: Kind::Freeze, worker, stage: Stage::Read, span: ttl * 5 / 2, choice: 0 }
}

/// What has been done.
#[derive(Debug, Default)]
pub struct Deeds {
    pub struck: BTreeMap<Kind, usize>,
    /// Spans in which leases may be doubled; see `checker`.
    pub astray: Vec<(u64, u64)>,
    /// Spans in which leases and their count were lost.
    pub lost: Vec<(u64, u64)>,
    pub complaints: Vec<String>,
    /// The last faults, in their order.
    pub last: VecDeque<String>,
}

impl Fault {
    /// Does it, and heals what it has broken.
    pub fn strike(&self, arena: &mut Arena, crew: &mut Crew, ttl: Duration, deeds: &mut Deeds) {
        let from = now();
        let mut astray = false;
        match self.kind {
            Kind::Freeze => crew.freeze(self.worker, self.stage, self.span),
            Kind::Kill => crew.kill(self.worker, self.stage),
            Kind::Terminate => deeds.complaints.extend(crew.terminate(self.worker, self.stage).err()),
            Kind::WorkerClock => {
                let clock = Crew::clock(arena.directory.path());
                faketime::set(&clock, self.hour());
                sleep(self.span);
                faketime::set(&clock, 0);
            }
            Kind::ServerClock => {
                astray = true;
                faketime::set(&arena.server_clock, self.hour());
                sleep(self.span);
                faketime::set(&arena.server_clock, 0);
            }
            Kind::CrashLedger => restart(arena.database.as_mut(), || {}, self.span / 4),
            Kind::CrashLeases => {
                let servers = arena.leases.len();
                restart(arena.leases.get_mut(self.choice % servers.max(1)), || {}, self.span / 4);
            }
            Kind::LoseLeases => {
                astray = true;
                self.lose_leases(arena, crew);
                deeds.lost.push((from, now()));
            }
            Kind::NoLeader => {
                let consul = arena.consul.as_ref().expect("the subject has it");
                consul.leaderless(true);
                sleep(self.span / 2);
                consul.change_leader();
                consul.leaderless(false);
            }
            Kind::EndSessions => end_sessions(arena),
            Kind::Exhaust => {
                let span = self.span.as_millis();
                crew.order(self.worker, &format!("exhaust {span}"));
                sleep(self.span);
            }
            Kind::LockFile => lock_file(arena, self.span),
            Kind::Cut | Kind::Delay | Kind::HalfOpen | Kind::Deaf => self.disturb(arena),
        }
        if astray {
            // What was granted meanwhile has ended, or was renewed, a TTL later.
            sleep(ttl);
            deeds.astray.push((from, now()));
        }
        *deeds.struck.entry(self.kind).or_default() += 1;
        let Self { kind, worker, stage, span, choice } = self;
        deeds.last.push_back(format!("{from} {kind:?} {worker} {stage:?} {span:?} {choice}"));
        if deeds.last.len() > 14 {
            deeds.last.pop_front();
        }
    }

    fn hour(&self) -> i64 {
        if self.choice.is_multiple_of(2) { 1 } else { -1 }
    }

    fn disturb(&self, arena: &Arena) {
        // One of them, or all.
        let chosen = self.choice % (arena.proxies.len() + 1);
        let struck = match arena.proxies.get(chosen) {
            Some(proxy) => std::slice::from_ref(proxy),
            None => &arena.proxies,
        };
        for proxy in struck {
            match self.kind {
                Kind::Cut => proxy.cut_all(),
                Kind::Delay => proxy.delay(Duration::from_millis(10 + self.choice as u64 % 300)),
                Kind::HalfOpen => proxy.swallow(true),
                _ => proxy.swallow_answers(true),
            }
        }
        sleep(if self.kind == Kind::Cut { Duration::ZERO } else { self.span });
        for proxy in struck {
            proxy.delay(Duration::ZERO);
            proxy.swallow(false);
            // Half of the time the connections stay as they are: alive to look at, and out of step.
            if self.choice.is_multiple_of(4) {
                proxy.cut_all();
            }
        }
    }

    /// A restart of the store that begins with nothing, and the operator who sets its count to what the protected
    /// data has seen. The next number is then one that a holder from before may have, who has not claimed with it
    /// and sleeps meanwhile.
    fn lose_leases(&self, arena: &mut Arena, crew: &mut Crew) {
        const VOLATILE: &str = "ALTER TABLE leasehold_lease SET UNLOGGED";
        const LASTING: &str = "ALTER TABLE leasehold_lease SET LOGGED";
        crew.stop(BLIND, Stage::Granted);
        if let Some(redis) = arena.leases.first_mut() {
            let data = redis.directory().join("appendonlydir");
            let forget = || fs::remove_dir_all(data).expect("the directory is ours");
            restart(Some(redis), forget, self.span / 4);
        } else {
            // An unlogged table is empty after a crash.
            arena.runtime.block_on(async { Database::open(&arena.own_ledger).await.batch(VOLATILE).await });
            restart(arena.database.as_mut(), || {}, self.span / 4);
        }
        sleep(self.span);
        arena.runtime.block_on(async {
            let database = Database::open(&arena.own_ledger).await;
            let store = Store::at(&arena.own_store);
            for account in ACCOUNTS {
                climb(&store, account, database.last_token(account).await).await;
            }
            if arena.leases.is_empty() {
                database.batch(LASTING).await;
            }
        });
        // Now and then the others are first.
        sleep(Duration::from_millis(self.choice as u64 % 4 * 20));
        crew.go_on(BLIND);
    }
}

fn restart(server: Option<&mut crate::support::servers::Server>, meanwhile: impl FnOnce(), down: Duration) {
    let server = server.expect("the subject has this server");
    server.crash();
    meanwhile();
    sleep(down);
    server.restart();
}

fn end_sessions(arena: &Arena) {
    const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    arena.runtime.block_on(async {
        let database = Database::open(&arena.own_ledger).await;
        for _ in 0..8 {
            database.batch(END).await;
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    });
}

fn lock_file(arena: &Arena, span: Duration) {
    arena.runtime.block_on(async {
        let database = Database::open(&arena.own_ledger).await;
        database.batch("BEGIN IMMEDIATE").await;
        sleep(span);
        database.batch("ROLLBACK").await;
    });
}

/// Draws tokens until the next one is above `seen`.
async fn climb(store: &Store, account: &str, seen: i64) {
    loop {
        let owner = OwnerValue::fresh().expect("there is randomness");
        let key = LeaseKey::new(account).expect("it is short");
        let claim = Claim { key, owner, ttl: Duration::from_millis(200) };
        let answer = store.acquire(&claim).await;
        if let Ok(Acquisition::Granted(grant)) = answer {
            // If nobody hears it, its TTL frees the key.
            let _freed = store.release(&claim).await;
            if grant.token.as_i64() >= seen {
                return;
            }
        } else {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}
