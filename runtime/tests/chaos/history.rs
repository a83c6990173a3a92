//! What workers write down while they run, one event a line, in a file for each process. Written with one system
//! call an event, so that a process that is killed has still said all that it knew; a last line that was cut off is
//! not read. All moments are the machine's boot clock, which every process shares.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use leasehold::clock::{BootClock, Clock};

pub fn now() -> u64 {
    BootClock.now().as_nanoseconds()
}

/// What became of a write, as its writer was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    /// Anything that promises that nothing was changed.
    RolledBack,
    /// The same, because the storage has seen a newer token.
    Stale,
    /// It may have happened.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A holder whose clock stands still never notices that its time is over.
    Started {
        blind: bool,
    },
    Granted {
        account: String,
        owner: String,
        token: i64,
        sent: u64,
        received: u64,
    },
    Renewed {
        owner: String,
        sent: u64,
        mine: bool,
    },
    Released {
        owner: String,
        sent: u64,
        mine: bool,
    },
    /// The holder asked whether it may go on, not before `at`, and was told yes.
    Believed {
        owner: String,
        at: u64,
    },
    Claimed {
        account: String,
        owner: String,
        token: i64,
        received: u64,
    },
    Began {
        op: i64,
        account: String,
        owner: String,
        token: i64,
        at: u64,
    },
    Ended {
        op: i64,
        outcome: Outcome,
    },
    Lost {
        reason: String,
    },
    /// By how many seconds the wall clock is ahead of the boot clock.
    Wall {
        ahead: i64,
    },
    /// A stage at which the process will now send itself a signal.
    Reached {
        stage: String,
    },
    Exited {
        clean: bool,
    },
}

impl Event {
    fn line(&self) -> String {
        match self {
            Self::Started { blind } => format!("started {blind}"),
            Self::Granted { account, owner, token, sent, received } => {
                format!("granted {account} {owner} {token} {sent} {received}")
            }
            Self::Renewed { owner, sent, mine } => format!("renewed {owner} {sent} {mine}"),
            Self::Released { owner, sent, mine } => format!("released {owner} {sent} {mine}"),
            Self::Believed { owner, at } => format!("believed {owner} {at}"),
            Self::Claimed { account, owner, token, received } => {
                format!("claimed {account} {owner} {token} {received}")
            }
            Self::Began { op, account, owner, token, at } => {
                format!("began {op} {account} {owner} {token} {at}")
            }
            Self::Ended { op, outcome } => format!("ended {op} {outcome:?}"),
            Self::Lost { reason } => format!("lost {}", reason.replace(char::is_whitespace, "-")),
            Self::Wall { ahead } => format!("wall {ahead}"),
            Self::Reached { stage } => format!("reached {stage}"),
            Self::Exited { clean } => format!("exited {clean}"),
        }
    }

    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        Some(match words[..] {
            ["started", blind] => Self::Started { blind: blind.parse().ok()? },
            ["granted", account, owner, token, sent, received] => Self::Granted {
                account: account.to_owned(),
                owner: owner.to_owned(),
                token: token.parse().ok()?,
                sent: sent.parse().ok()?,
                received: received.parse().ok()?,
            },
            ["renewed", owner, sent, mine] => {
                Self::Renewed { owner: owner.to_owned(), sent: sent.parse().ok()?, mine: mine.parse().ok()? }
            }
            ["released", owner, sent, mine] => {
                Self::Released { owner: owner.to_owned(), sent: sent.parse().ok()?, mine: mine.parse().ok()? }
            }
            ["believed", owner, at] => Self::Believed { owner: owner.to_owned(), at: at.parse().ok()? },
            ["claimed", account, owner, token, received] => Self::Claimed {
                account: account.to_owned(),
                owner: owner.to_owned(),
                token: token.parse().ok()?,
                received: received.parse().ok()?,
            },
            ["began", op, account, owner, token, at] => Self::Began {
                op: op.parse().ok()?,
                account: account.to_owned(),
                owner: owner.to_owned(),
                token: token.parse().ok()?,
                at: at.parse().ok()?,
            },
            ["ended", op, outcome] => {
                let all = [Outcome::Committed, Outcome::RolledBack, Outcome::Stale, Outcome::Unknown];
                let outcome = all.into_iter().find(|one| format!("{one:?}") == outcome)?;
                Self::Ended { op: op.parse().ok()?, outcome }
            }
            ["lost", reason] => Self::Lost { reason: reason.to_owned() },
            ["wall", ahead] => Self::Wall { ahead: ahead.parse().ok()? },
            ["reached", stage] => Self::Reached { stage: stage.to_owned() },
            ["exited", clean] => Self::Exited { clean: clean.parse().ok()? },
            _ => return None,
        })
    }
}

/// Where one process writes its events.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    pub fn create(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self(file.expect("the directory is ours"))
    }

    pub fn note(&self, event: &Event) {
        let line = event.line() + "\n";
        (&self.0).write_all(line.as_bytes()).expect("the disk has room");
    }
}

/// All events of one process, in its own order.
pub fn read(path: &Path) -> Vec<Event> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().map(|line| Event::read(line).unwrap_or_else(|| panic!("what is `{line}`?")));
    lines.collect()
}

/// A write as it stands in the storage, in the order of its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub number: i64,
    pub account: String,
    pub op: i64,
    pub token: i64,
    /// The entry that its writer had read last.
    pub based_on: i64,
}

/// An account as it stands in the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub value: i64,
    /// Which write put the note there, if there is one. Some writes take it away.
    pub note: Option<i64>,
}

/// Whether this write takes the account's note away, and does not write it.
pub fn takes_note_away(op: i64) -> bool {
    op % 5 == 0
}
