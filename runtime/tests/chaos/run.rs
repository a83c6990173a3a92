//! One run: workers at work, faults in their order, and the judgement over what is left.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use leasehold::store::Claim;
use leasehold::{LeaseKey, LeaseStore, OwnerValue};

use crate::chance::Chance;
use crate::checker::{Run, Violation, check, repeated_numbers};
use crate::crew::{Crew, Terms};
use crate::database::Database;
use crate::history::{self, Event, Outcome};
use crate::nemesis::{Deeds, Fault, Kind, freezes, plan};
use crate::stores::Store;
use crate::subjects::{Arena, Subject};
use crate::worker::ACCOUNTS;

const CREW: usize = 4;

/// How much is to happen.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub faults: usize,
    pub writes: i64,
    /// How long a fault lasts at most, in tenths of the TTL.
    pub longest: u32,
}

/// What happened.
#[derive(Debug)]
pub struct Report {
    pub subject: &'static str,
    pub seed: u64,
    pub took: Duration,
    pub deeds: Deeds,
    pub violations: Vec<Violation>,
    pub writes: usize,
    pub grants: usize,
    /// Numbers that were granted again after a loss of data.
    pub repeated: usize,
    /// Commits whose answer was lost, and of which was found out what became of them.
    pub found_out: usize,
    /// How often a lease was refused because another one had claimed with its number.
    pub doubled: usize,
    pub processes: usize,
    /// What writers were told, by the outcome's name.
    pub outcomes: BTreeMap<String, usize>,
    /// By how many seconds the wall clock that a worker saw was moved at most.
    pub wall_moved: i64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: usize = self.deeds.struck.values().sum();
        writeln!(
            f,
            "{}, seed {}: {} fenced writes under {} leases of {} processes, {faults} faults, {:.0?}",
            self.subject, self.seed, self.writes, self.grants, self.processes, self.took
        )?;
        writeln!(f, "  faults: {:?}", self.deeds.struck)?;
        writeln!(
            f,
            "  the last ones: {}",
            self.deeds.last.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        )?;
        writeln!(f, "  writers were told: {:?}", self.outcomes)?;
        writeln!(
            f,
            "  numbers granted again after a loss of data: {}; leases refused since another one had theirs: {}; \
             commits that were asked about: {}",
            self.repeated, self.doubled, self.found_out
        )?;
        writeln!(f, "  violations: {:?}", self.violations)?;
        write!(f, "  complaints: {:?}", self.deeds.complaints)
    }
}

/// Workers that do all that the documentation says, under every fault of the subject.
pub fn fenced(subject: &Subject, seed: u64, size: Size) -> Report {
    let mut chance = Chance::seeded(seed);
    let faults = plan(subject.faults, size, CREW, subject.ttl, &mut chance);
    run(subject, seed, &faults, size.writes, true)
}

/// Workers that have a lease and no fence.
pub fn control(subject: &Subject, seed: u64) -> Report {
    run(subject, seed, &freezes(3, CREW, subject.ttl), 0, false)
}

fn run(subject: &Subject, seed: u64, faults: &[Fault], writes: i64, fenced: bool) -> Report {
    let began = Instant::now();
    let ttl = subject.ttl;
    let mut arena = (subject.open)();
    let terms = Terms {
        store: arena.store.clone(),
        ledger: arena.ledger.clone(),
        fenced,
        ttl,
        seed,
        directory: arena.directory.path().to_owned(),
    };
    let mut crew = Crew::start(terms, CREW);
    let mut deeds = Deeds::default();
    let mut chance = Chance::seeded(!seed);
    std::thread::sleep(ttl / 2);
    for fault in faults {
        fault.strike(&mut arena, &mut crew, ttl, &mut deeds);
        deeds.complaints.extend(crew.deserters());
        if !deeds.complaints.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100 + chance.below(400)));
    }
    deeds.complaints.extend(recovers(&arena, ttl, writes));
    let journals = crew.journals().to_vec();
    deeds.complaints.extend(crew.dismiss());
    deeds.complaints.extend(leftovers(&arena));
    let report =
        judge(subject, seed, began, &arena, deeds, journals.iter().map(|path| history::read(path)).collect());
    if fenced && !report.is_sound() {
        // To be read by whoever looks for the reason.
        println!("the journals are in {}", arena.directory.path().display());
        arena.directory.disable_cleanup(true);
    }
    report
}

/// When the faults have ended, work goes on everywhere, up to the number of writes that was asked for.
fn recovers(arena: &Arena, ttl: Duration, writes: i64) -> Option<String> {
    arena.runtime.block_on(async {
        let database = Database::open(&arena.own_ledger).await;
        for account in ACCOUNTS {
            let (before, began) = (database.writes(account).await, Instant::now());
            while database.writes(account).await == before {
                if began.elapsed() > ttl * 15 {
                    let said = ask(&Store::at(&arena.own_store), account, ttl).await;
                    return Some(format!("nobody can write `{account}` any more; its lease: {said}"));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        let (mut most, mut since) = (0, Instant::now());
        loop {
            let mut now = 0;
            for account in ACCOUNTS {
                now += database.writes(account).await;
            }
            if now >= writes {
                return None;
            }
            if now > most {
                (most, since) = (now, Instant::now());
            }
            if since.elapsed() > ttl * 15 {
                return Some(format!("no writes any more after {now}"));
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
}

/// What the store says to somebody who asks for a lease.
async fn ask(store: &Store, account: &str, ttl: Duration) -> String {
    let owner = OwnerValue::fresh().expect("there is randomness");
    let key = LeaseKey::new(account).expect("it is short");
    format!("{:?}", store.acquire(&Claim { key, owner, ttl }).await)
}

/// What is left when all workers have ended: nothing held for longer than its TTL, nothing open.
fn leftovers(arena: &Arena) -> Vec<String> {
    arena.runtime.block_on(async {
        let mut found = Vec::new();
        let store = Store::at(&arena.own_store);
        for account in ACCOUNTS {
            let key = LeaseKey::new(account).expect("it is short");
            if let Some(owner) = store.holder(&key).await.expect("it is up") {
                found.push(format!("`{account}` is still held, by {owner:?}"));
            }
        }
        let open = Database::open(&arena.own_ledger).await.left_open().await;
        if open > 0 {
            found.push(format!("{open} transactions are still open"));
        }
        found
    })
}

fn judge(
    subject: &Subject,
    seed: u64,
    began: Instant,
    arena: &Arena,
    deeds: Deeds,
    processes: Vec<Vec<Event>>,
) -> Report {
    let (entries, accounts) = arena.runtime.block_on(async {
        let database = Database::open(&arena.own_ledger).await;
        (database.entries().await, database.accounts().await)
    });
    let (store_astray, store_lost) = (deeds.astray.clone(), deeds.lost.clone());
    let run = Run { processes, entries, accounts, store_astray, store_lost };
    let violations = check(&run);
    let mut outcomes = BTreeMap::new();
    let (mut grants, mut doubled, mut found_out) = (0, 0, 0);
    let (mut earliest, mut latest) = (i64::MAX, i64::MIN);
    for event in run.processes.iter().flatten() {
        match event {
            Event::Ended { outcome, .. } => *outcomes.entry(format!("{outcome:?}")).or_default() += 1,
            Event::Granted { .. } => grants += 1,
            Event::Lost { reason } if reason.contains("granted-the-number-twice") => doubled += 1,
            Event::Lost { reason } if reason.contains("found-out") => found_out += 1,
            Event::Wall { ahead } => (earliest, latest) = (earliest.min(*ahead), latest.max(*ahead)),
            _ => {}
        }
    }
    Report {
        subject: subject.name,
        seed,
        took: began.elapsed(),
        deeds,
        violations,
        writes: run.entries.len(),
        grants,
        repeated: repeated_numbers(&run),
        doubled,
        found_out,
        processes: run.processes.len(),
        outcomes,
        wall_moved: latest.saturating_sub(earliest),
    }
}

impl Report {
    fn is_sound(&self) -> bool {
        self.violations.is_empty() && self.deeds.complaints.is_empty()
    }

    /// Why a run with fencing is not good enough, if it is not.
    pub fn shortcomings(&self, subject: &Subject) -> Result<(), String> {
        let missing: Vec<&Kind> =
            subject.faults.iter().filter(|kind| !self.deeds.struck.contains_key(kind)).collect();
        let refused = self.outcomes.get(&format!("{:?}", Outcome::Stale)).copied().unwrap_or(0);
        let why = if !self.is_sound() {
            "the run is not sound".to_owned()
        } else if !missing.is_empty() {
            format!("these faults have not struck: {missing:?}")
        } else if refused == 0 {
            "no stale write was tried, so the run proves nothing".to_owned()
        } else if self.wall_moved < 3000 && subject.faults.contains(&Kind::WorkerClock) {
            "no worker saw its clock move".to_owned()
        } else {
            return Ok(());
        };
        Err(format!("{why}\n{self}"))
    }

    /// Whether the control went wrong as it must.
    pub fn is_corrupted(&self) -> bool {
        let wrong = |violation: &Violation| {
            matches!(violation, Violation::TokenOrder { .. } | Violation::LostUpdate { .. })
        };
        self.violations.iter().any(wrong)
    }
}
