//! Judges a run by what its workers wrote down and what the storage holds at its end. Knows neither stores nor
//! faults: what is excused is told to it, as spans of time in which a store had lost its data or its clock.
//!
//! No search is needed as for linearizability in general, since the tokens say the order.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::history::{Account, Entry, Event, Outcome, takes_note_away};

/// Everything that is known of a run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The events of each process.
    pub processes: Vec<Vec<Event>>,
    /// All writes in the storage, by number.
    pub entries: Vec<Entry>,
    pub accounts: Vec<Account>,
    /// Spans in which the store of leases had lost its data, or judged by a clock that jumped. Leases granted in
    /// one may be doubled. No write is ever excused.
    pub store_astray: Vec<(u64, u64)>,
    /// Those of them in which it had lost its data. What it counts afterwards is compared with what it counted
    /// before by nobody but the fence: a number may come again, and must not be written under twice.
    pub store_lost: Vec<(u64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A write was accepted after one with a newer token.
    TokenOrder { account: String, number: i64, token: i64, newest: i64 },
    /// A write was accepted although its writer had not seen the one before it.
    LostUpdate { account: String, number: i64, based_on: i64, before: i64 },
    /// The balance is not what all accepted writes make of it.
    WrongValue { account: String, value: i64, writes: i64 },
    /// A note that a newer holder took away has come back, or one of its own is missing.
    WrongNote { account: String, found: Option<i64>, expected: Option<i64> },
    /// A write that was reported as committed is not there.
    Vanished { op: i64 },
    /// A write that was reported as rolled back, or whose task was cancelled, is there.
    NotRolledBack { op: i64 },
    /// A write is there twice, or nobody has begun it.
    Invented { op: i64 },
    /// A write was begun after the storage had confirmed the claim of a newer token, or of its own token by another
    /// lease, and was accepted.
    AfterClaim { op: i64, token: i64, claimed: i64 },
    /// The storage has let two leases claim or write under one number.
    SharedToken { account: String, token: i64 },
    /// A grant has no higher token than one that was answered before it was asked for, or the same as another one,
    /// without a loss of data in between.
    TokenNotGrown { account: String, token: i64, earlier: i64 },
    /// The store confirmed the renewal of a lease that it had granted to somebody else since.
    ForeignRenewal { owner: String, token: i64, newer: i64 },
    /// The store confirmed the release of a lease that it had granted to somebody else since.
    ForeignRelease { owner: String, token: i64, newer: i64 },
    /// A holder believed in its lease when the next one had been granted.
    TwoHolders { account: String, token: i64, newer: i64, by_nanoseconds: u64 },
}

/// One grant, with what its holder believed.
#[derive(Debug, Clone)]
struct Held {
    owner: String,
    token: i64,
    sent: u64,
    received: u64,
    /// The last moment at which an honest holder was told that it may go on.
    believed: Option<u64>,
}

/// All violations of a run.
pub fn check(run: &Run) -> Vec<Violation> {
    let mut found = Vec::new();
    check_storage(run, &mut found);
    check_reports(run, &mut found);
    check_claims(run, &mut found);
    check_leases(run, &mut found);
    found
}

fn check_storage(run: &Run, found: &mut Vec<Violation>) {
    let mut of_account: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in &run.entries {
        of_account.entry(&entry.account).or_default().push(entry);
    }
    for (name, entries) in &mut of_account {
        entries.sort_by_key(|entry| entry.number);
        let (mut newest, mut before) = (0, 0);
        for entry in entries {
            let (account, number) = ((*name).to_owned(), entry.number);
            if entry.token < newest {
                found.push(Violation::TokenOrder {
                    account: account.clone(),
                    number,
                    token: entry.token,
                    newest,
                });
            }
            if entry.based_on != before {
                found.push(Violation::LostUpdate { account, number, based_on: entry.based_on, before });
            }
            (newest, before) = (newest.max(entry.token), number);
        }
    }
    for Account { name, value, note } in &run.accounts {
        let entries = of_account.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        let writes = i64::try_from(entries.len()).expect("there are not so many");
        if *value != writes {
            found.push(Violation::WrongValue { account: name.clone(), value: *value, writes });
        }
        let expected = entries.last().map(|last| last.op).filter(|op| !takes_note_away(*op));
        if *note != expected {
            found.push(Violation::WrongNote { account: name.clone(), found: *note, expected });
        }
    }
}

/// What writers were told of their writes, against what is there.
fn check_reports(run: &Run, found: &mut Vec<Violation>) {
    let mut begun = HashSet::new();
    let mut told = HashMap::new();
    for event in run.processes.iter().flatten() {
        match event {
            Event::Began { op, .. } => _ = begun.insert(*op),
            Event::Ended { op, outcome } => _ = told.insert(*op, *outcome),
            _ => {}
        }
    }
    let mut there = HashSet::new();
    for Entry { op, .. } in &run.entries {
        if !there.insert(*op) || !begun.contains(op) {
            found.push(Violation::Invented { op: *op });
        }
    }
    for (op, outcome) in told {
        match outcome {
            Outcome::Committed if !there.contains(&op) => found.push(Violation::Vanished { op }),
            Outcome::RolledBack | Outcome::Stale if there.contains(&op) => {
                found.push(Violation::NotRolledBack { op });
            }
            _ => {}
        }
    }
}

/// A claim that the storage has confirmed, or a write that it has accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LetIn<'a> {
    at: u64,
    token: i64,
    owner: &'a str,
}

fn check_claims(run: &Run, found: &mut Vec<Violation>) {
    let there: HashSet<i64> = run.entries.iter().map(|entry| entry.op).collect();
    // For each account, claims by the moment of their answer, each with the newest one up to it.
    let mut claims: HashMap<&str, Vec<LetIn>> = HashMap::new();
    let mut writes = Vec::new();
    let mut owners: BTreeMap<(&str, i64), HashSet<&str>> = BTreeMap::new();
    for event in run.processes.iter().flatten() {
        let (account, owner, token) = match event {
            Event::Claimed { account, owner, token, received } => {
                claims.entry(account).or_default().push(LetIn { at: *received, token: *token, owner });
                (account, owner, token)
            }
            Event::Began { op, account, owner, token, at } if there.contains(op) => {
                writes.push((*op, account.as_str(), LetIn { at: *at, token: *token, owner }));
                (account, owner, token)
            }
            _ => continue,
        };
        owners.entry((account, *token)).or_default().insert(owner);
    }
    for ((account, token), _) in owners.into_iter().filter(|(_, owners)| owners.len() > 1) {
        found.push(Violation::SharedToken { account: account.to_owned(), token });
    }
    for of_account in claims.values_mut() {
        of_account.sort_unstable();
        let mut newest = LetIn { at: 0, token: 0, owner: "" };
        for claim in of_account {
            if claim.token > newest.token {
                newest = *claim;
            }
            (claim.token, claim.owner) = (newest.token, newest.owner);
        }
    }
    for (op, account, LetIn { at, token, owner }) in writes {
        let Some(of_account) = claims.get(account) else { continue };
        let before = of_account.partition_point(|claim| claim.at < at);
        if let Some(claim) = before.checked_sub(1).map(|last| of_account[last])
            && (claim.token > token || claim.token == token && claim.owner != owner)
        {
            found.push(Violation::AfterClaim { op, token, claimed: claim.token });
        }
    }
}

/// How many numbers were granted more than once, each for one account. After a loss of data that may be.
pub fn repeated_numbers(run: &Run) -> usize {
    let repeated = |held: &Vec<Held>| {
        let distinct: HashSet<i64> = held.iter().map(|one| one.token).collect();
        held.len() - distinct.len()
    };
    leases(run).values().map(repeated).sum()
}

/// Tokens grow as long as the store has its data.
fn check_tokens(run: &Run, account: &str, held: &[Held], found: &mut Vec<Violation>) {
    let touches =
        |one: &Held| run.store_lost.iter().any(|(from, to)| one.sent <= *to && one.received >= *from);
    // After so many losses.
    let life = |one: &Held| run.store_lost.iter().filter(|(_, to)| *to < one.sent).count();
    let mut lives: BTreeMap<usize, Vec<&Held>> = BTreeMap::new();
    for one in held.iter().filter(|one| !touches(one)) {
        lives.entry(life(one)).or_default().push(one);
    }
    for by_question in lives.values() {
        let mut by_answer = by_question.clone();
        by_answer.sort_by_key(|one| one.received);
        let (mut answered, mut newest, mut before) = (0, 0, HashSet::new());
        for one in by_question {
            while answered < by_answer.len() && by_answer[answered].received < one.sent {
                newest = newest.max(by_answer[answered].token);
                answered += 1;
            }
            let is_new = before.insert(one.token);
            if one.token <= newest || !is_new {
                let earlier = newest.max(one.token);
                found.push(Violation::TokenNotGrown {
                    account: account.to_owned(),
                    token: one.token,
                    earlier,
                });
            }
        }
    }
}

fn check_leases(run: &Run, found: &mut Vec<Violation>) {
    let astray = |at: u64| run.store_astray.iter().any(|(from, to)| (*from..=*to).contains(&at));
    let leases = leases(run);
    for (account, held) in &leases {
        check_tokens(run, account, held, found);
        for one in held {
            let Some(until) = one.believed else { continue };
            let next = successor(held, one, until).filter(|next| !astray(next.received) && !astray(until));
            if let Some(next) = next {
                found.push(Violation::TwoHolders {
                    account: (*account).to_owned(),
                    token: one.token,
                    newer: next.token,
                    by_nanoseconds: until - next.received,
                });
            }
        }
    }
    let owners: HashMap<&str, (&[Held], &Held)> = leases
        .values()
        .flat_map(|held| held.iter().map(move |one| (one.owner.as_str(), (held.as_slice(), one))))
        .collect();
    for event in run.processes.iter().flatten() {
        let (Event::Renewed { owner, sent, mine: true } | Event::Released { owner, sent, mine: true }) =
            event
        else {
            continue;
        };
        let Some((held, one)) = owners.get(owner.as_str()) else { continue };
        let Some(next) = successor(held, one, *sent) else { continue };
        let (owner, token, newer) = (owner.clone(), one.token, next.token);
        found.push(match event {
            Event::Renewed { .. } => Violation::ForeignRenewal { owner, token, newer },
            _ => Violation::ForeignRelease { owner, token, newer },
        });
    }
}

/// The first grant that was asked for after this one had been answered, if its own answer was there before `until`.
fn successor<'a>(held: &'a [Held], one: &Held, until: u64) -> Option<&'a Held> {
    let from = held.partition_point(|other| other.sent <= one.received);
    held.get(from..)?.iter().take_while(|other| other.sent < until).find(|other| other.received < until)
}

/// The grants of each account, by the moment at which they were asked for.
fn leases(run: &Run) -> BTreeMap<&str, Vec<Held>> {
    let mut all: BTreeMap<&str, Vec<Held>> = BTreeMap::new();
    for process in &run.processes {
        let blind = process.contains(&Event::Started { blind: true });
        let mut believed: HashMap<&str, u64> = HashMap::new();
        for event in process {
            if let Event::Believed { owner, at } = event {
                let last = believed.entry(owner).or_default();
                *last = (*last).max(*at);
            }
        }
        for event in process {
            let Event::Granted { account, owner, token, sent, received } = event else { continue };
            all.entry(account).or_default().push(Held {
                owner: owner.clone(),
                token: *token,
                sent: *sent,
                received: *received,
                believed: believed.get(owner.as_str()).copied().filter(|_| !blind),
            });
        }
    }
    for held in all.values_mut() {
        held.sort_by_key(|one| one.sent);
    }
    all
}
