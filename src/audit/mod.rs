//! An audit: every lock of the workspace with its life cycle, and its verdict on the four items of the checklist.
//!
//! It puts side by side what the inventory, the rules and the model know of one lock; it decides nothing that
//! they have not decided. Printing is a report's.

mod build;
mod difference;
mod places;
mod verdicts;
mod words;

use serde::{Deserialize, Serialize};

use crate::facts::Location;
use crate::harm::Harm;
use crate::proof::protocol::Protocol;

pub use build::audit;
pub use difference::{Change, Direction, difference};

/// All locks, by store and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    pub locks: Vec<LockAudit>,
    /// What the model was made of, fenced tables without a lock among them.
    pub protocols: Vec<Protocol>,
}

impl Audit {
    /// Gives the findings the positions that they have in another report.
    pub fn renumber(&mut self, new: impl Fn(usize) -> Option<usize>) {
        let renumber = |findings: &mut Vec<usize>| {
            *findings = findings.iter().filter_map(|at| new(*at)).collect();
        };
        for lock in &mut self.locks {
            renumber(&mut lock.findings);
            for verdict in &mut lock.verdicts {
                if let Verdict::Fails(findings) = verdict {
                    renumber(findings);
                }
            }
        }
    }

    /// Puts the locks of another project behind these.
    pub fn join(&mut self, other: Audit) {
        self.locks.extend(other.locks);
        self.protocols.extend(other.protocols);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockAudit {
    /// The key template or the table.
    pub name: String,
    pub store: &'static str,
    /// Why it is believed to be a lock.
    pub evidence: Vec<String>,
    /// How long it lasts.
    pub lifetime: String,
    /// How often it is renewed.
    pub rhythm: String,
    pub acquired: Vec<Use>,
    pub renewed: Vec<Use>,
    pub released: Vec<Use>,
    /// What is written under it, or because of it.
    pub written: Vec<Use>,
    pub shutdown: String,
    /// In the order of [`Item::ALL`].
    pub verdicts: [Verdict; 4],
    pub model: Model,
    pub unresolved: Vec<Unresolved>,
    /// The findings about it, by their position in the report.
    pub findings: Vec<usize>,
}

/// One way in which something is done with the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    pub location: Location,
    pub function: String,
    pub how: String,
}

/// What the searches of the model have come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    pub programs: usize,
    pub states: usize,
    pub reached: Vec<Harm>,
    pub is_cut: bool,
}

/// What the sources do not show, and what would tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    pub what: String,
    pub declare: String,
}

/// An item of the checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    Storage,
    Atomic,
    Clock,
    Shutdown,
}

impl Item {
    pub const ALL: [Self; 4] = [Self::Storage, Self::Atomic, Self::Clock, Self::Shutdown];

    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Atomic => "atomic",
            Self::Clock => "clock",
            Self::Shutdown => "shutdown",
        }
    }

    /// As the checklist says it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Storage => "storage has the last word",
            Self::Atomic => "ownership is compared and acted on in one step",
            Self::Clock => "no wall clock decides how long the lock is valid",
            Self::Shutdown => "SIGTERM is handled",
        }
    }

    /// The groups of rules that speak of it.
    fn groups(self) -> &'static [&'static str] {
        match self {
            Self::Storage => &["fence", "schema"],
            Self::Atomic => &["release", "acquire", "renew"],
            Self::Clock => &["clock"],
            Self::Shutdown => &["shutdown"],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// With what shows it.
    Holds(String),
    /// With the findings, by their position in the report.
    Fails(Vec<usize>),
    /// With the reason.
    Unknown(String),
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds(_) => "holds",
            Self::Fails(_) => "fails",
            Self::Unknown(_) => "cannot tell",
        }
    }
}
