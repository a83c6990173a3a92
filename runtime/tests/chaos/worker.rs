//! A worker: the process that the faults strike. Takes leases, claims, reads, writes on the ground of what it has
//! read, and writes down everything. Ends on SIGTERM, as a service does.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leasehold::clock::{BootClock, Clock, ManualClock};
use leasehold::{AcquireError, Lease, Leases, Shutdown, Tenure};

use crate::chance::Chance;
use crate::history::{Event, Journal, Outcome, now};
use crate::ledger::{Ledger, Page, Write};
use crate::pool::Pool;
use crate::stage::{Orders, Stage, signal_named};
use crate::stores::{Recorded, Store};

/// Few, so that workers meet.
pub const ACCOUNTS: [&str; 2] = ["account-0", "account-1"];

/// How a worker behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// As the documentation says.
    Fenced,
    /// The same, with a clock that stands still: only the storage can stop it.
    Blind,
    /// A lease and plain writes.
    Plain,
}

impl Manner {
    pub const ALL: [Self; 3] = [Self::Fenced, Self::Blind, Self::Plain];
}

/// What a worker is told when it starts.
pub struct Brief {
    pub store: String,
    pub ledger: String,
    pub journal: String,
    pub manner: Manner,
    pub ttl: Duration,
    pub seed: u64,
    /// Its writes are numbered from here.
    pub first_op: i64,
}

impl Brief {
    pub fn arguments(&self) -> [String; 7] {
        [
            self.store.clone(),
            self.ledger.clone(),
            self.journal.clone(),
            format!("{:?}", self.manner),
            self.ttl.as_millis().to_string(),
            self.seed.to_string(),
            self.first_op.to_string(),
        ]
    }

    fn read(arguments: &[String]) -> Self {
        let [store, ledger, journal, manner, ttl, seed, first_op] = arguments else {
            panic!("a worker needs seven arguments")
        };
        let manner = Manner::ALL.into_iter().find(|one| format!("{one:?}") == *manner);
        Self {
            store: store.clone(),
            ledger: ledger.clone(),
            journal: journal.clone(),
            manner: manner.expect("it is one of them"),
            ttl: Duration::from_millis(ttl.parse().expect("it is a number")),
            seed: seed.parse().expect("it is a number"),
            first_op: first_op.parse().expect("it is a number"),
        }
    }
}

pub fn main(arguments: &[String]) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(Worker::start(Brief::read(arguments)))
}

struct Worker {
    journal: Arc<Journal>,
    orders: Arc<Orders>,
    manner: Manner,
    ttl: Duration,
    chance: Chance,
    next_op: i64,
    leases: Leases,
    ledger: Ledger,
}

impl Worker {
    async fn start(brief: Brief) -> ExitCode {
        let journal = Arc::new(Journal::create(Path::new(&brief.journal)));
        let orders = Arc::new(Orders::new(Arc::clone(&journal)));
        let shutdown = Shutdown::on_signals().expect("signals can be caught");
        journal.note(&Event::Started { blind: brief.manner == Manner::Blind });
        let store = Recorded { store: Store::at(&brief.store), journal: Arc::clone(&journal) };
        let mut builder = Leases::builder(store).ttl(brief.ttl).cancel_on(shutdown.token());
        if brief.manner == Manner::Blind {
            builder = builder.clock(ManualClock::starting_at(BootClock.now()));
        }
        let leases = builder.build().expect("the settings are right");
        let (ledger, pool) = Ledger::at(&brief.ledger, brief.manner != Manner::Plain);
        tokio::spawn(watch_wall(Arc::clone(&journal)));
        listen(Arc::clone(&orders), pool, tokio::runtime::Handle::current());
        let chance = Chance::seeded(brief.seed);
        let (manner, ttl, next_op) = (brief.manner, brief.ttl, brief.first_op);
        let mut worker = Self { journal, orders, manner, ttl, chance, next_op, leases, ledger };
        while !shutdown.token().is_cancelled() {
            worker.round().await;
        }
        let drained = shutdown.drain(&[&worker.leases], Duration::from_secs(8)).await;
        if let Err(error) = &drained {
            worker.lost(error);
        }
        worker.journal.note(&Event::Exited { clean: drained.is_ok() });
        if drained.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn lost(&self, reason: &impl ToString) {
        self.journal.note(&Event::Lost { reason: reason.to_string() });
    }

    async fn round(&mut self) {
        let account = *self.chance.pick(&ACCOUNTS);
        self.orders.reached(Stage::Acquiring);
        let lease = match self.leases.acquire_within(account, Duration::from_secs(5)).await {
            Ok(lease) => lease,
            Err(AcquireError::ShuttingDown { .. }) => return,
            Err(error) => {
                self.lost(&error);
                tokio::time::sleep(Duration::from_millis(30)).await;
                return;
            }
        };
        let believing = tokio::spawn(believe(lease.tenure(), Arc::clone(&self.journal)));
        self.orders.reached(Stage::Granted);
        if let Err((_, reason)) = self.work(&lease, account).await {
            self.lost(&reason);
        }
        believing.abort();
        self.orders.reached(Stage::Releasing);
        if self.chance.once_in(8) {
            drop(lease);
        } else if let leasehold::ReleaseOutcome::Unconfirmed(error) = lease.release().await {
            self.lost(&error);
        }
        let pause = Duration::from_millis(self.chance.below(20));
        tokio::time::sleep(pause).await;
    }

    async fn work(&mut self, lease: &Lease, account: &str) -> Result<(), (Outcome, String)> {
        let (token, owner) = (lease.token().as_i64(), lease.owner().to_hex());
        let page = self.ledger.claim(lease, account).await?;
        let received = now();
        if self.manner != Manner::Plain {
            let (account, owner) = (account.to_owned(), owner.clone());
            self.journal.note(&Event::Claimed { account, owner, token, received });
        }
        self.orders.reached(Stage::Claimed);
        let mut seen = page.read(account).await?;
        self.orders.reached(Stage::Read);
        for _ in 0..=self.chance.below(30) {
            if self.chance.once_in(30) {
                self.think(lease).await?;
            }
            let cancelled = self.manner != Manner::Plain && self.chance.once_in(15);
            let op = self.next_op;
            self.next_op += 1;
            let (account, owner) = (account.to_owned(), owner.clone());
            let write = Write { account, op, owner, token, seen, cancelled };
            seen.entry = self.write(&page, &write).await?.unwrap_or(seen.entry);
            seen.value += i64::from(!cancelled);
        }
        Ok(())
    }

    /// One write; without a number when its task was cancelled on purpose.
    async fn write(&self, page: &Page, write: &Write) -> Result<Option<i64>, (Outcome, String)> {
        let Write { op, account, owner, token, .. } = write.clone();
        self.journal.note(&Event::Began { op, account, owner, token, at: now() });
        let written = page.write(write, &self.orders).await;
        let outcome = written.as_ref().map_or_else(|(outcome, _)| *outcome, |_| Outcome::Committed);
        self.journal.note(&Event::Ended { op, outcome });
        self.orders.reached(Stage::Committed);
        match written {
            Err((Outcome::RolledBack, reason)) if reason == "cancelled" => Ok(None),
            written => written.map(Some),
        }
    }

    /// Work that takes longer than the lease lasts, unless that is renewed.
    async fn think(&mut self, lease: &Lease) -> Result<(), (Outcome, String)> {
        let most = u64::try_from(self.ttl.as_millis()).expect("it is short") * 3 / 2;
        let span = Duration::from_millis(self.chance.below(most));
        if self.manner == Manner::Plain {
            tokio::time::sleep(span).await;
            return Ok(());
        }
        let slept = lease.run(tokio::time::sleep(span)).await;
        slept.map_err(|lost| (Outcome::RolledBack, lost.to_string()))
    }
}

/// Asks again and again whether the holder may go on, and writes down when it was told yes.
async fn believe(tenure: Tenure, journal: Arc<Journal>) {
    let owner = tenure.owner().to_hex();
    loop {
        let at = now();
        if tenure.check().is_err() {
            return;
        }
        journal.note(&Event::Believed { owner: owner.clone(), at });
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

/// Writes down whenever the wall clock was moved.
async fn watch_wall(journal: Arc<Journal>) {
    let mut last = 0;
    loop {
        let ahead = wall_ahead();
        if ahead.abs_diff(last) > 60 {
            journal.note(&Event::Wall { ahead });
            last = ahead;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// By how many seconds the wall clock is ahead of the boot clock; the fault suite's evidence that it was moved.
fn wall_ahead() -> i64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(wall).unwrap_or(0) - i64::try_from(now() / 1_000_000_000).unwrap_or(0)
}

/// Takes orders from the one who has started the process: `at STAGE SIGNAL`, `exhaust MILLISECONDS`.
fn listen(orders: Arc<Orders>, pool: Option<Pool>, runtime: tokio::runtime::Handle) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["at", stage, signal] => {
                    let stage = Stage::ALL.into_iter().find(|one| format!("{one:?}") == stage);
                    if let (Some(stage), Some(signal)) = (stage, signal_named(signal)) {
                        orders.arm(stage, signal);
                    }
                }
                ["exhaust", span] => {
                    if let (Some(pool), Ok(span)) = (pool.clone(), span.parse()) {
                        runtime.spawn(async move { pool.exhaust(Duration::from_millis(span)).await });
                    }
                }
                _ => {}
            }
        }
    });
}
