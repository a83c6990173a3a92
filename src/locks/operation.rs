//! Operations on locks, in the order in which one function (helpers included) makes them.

use std::sync::Arc;

use serde::Deserialize;

use crate::facts::Location;

use super::renewal::Repetition;
use super::written::WrittenCommand;

/// What one function does to stores, helpers included, in order.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// Such as `JobGuard::take`.
    pub function: String,
    /// The function's number in the program.
    pub number: usize,
    pub location: Location,
    /// Its result says yes or no.
    pub answers: bool,
    /// Code that is not only there for a destructor calls it.
    pub is_called: bool,
    pub operations: Vec<Operation>,
}

impl Sequence {
    /// The comparison on which an operation depends that found the holder's own value in its key.
    pub fn ownership_read(&self, operation: &Operation) -> Option<&Operation> {
        operation.checks.iter().filter(|check| !check.with_constant).find_map(|check| {
            let read = self.operations.get(check.read)?;
            (read.key == operation.key && read.action == Action::Read).then_some(read)
        })
    }

    /// Whether the holder's own value was found in its key before an operation.
    pub fn is_own(&self, operation: &Operation) -> bool {
        operation.checks.iter().filter(|check| check.equal && !check.with_constant).any(|check| {
            let read = self.operations.get(check.read);
            read.is_some_and(|read| read.key == operation.key && read.action == Action::Read)
        })
    }

    /// Whether an expiry belongs to an acquire of this sequence that took the key without one.
    pub fn completes_an_acquire(&self, operation: &Operation) -> bool {
        self.operations.iter().any(|other| {
            let bare = matches!(other.action, Action::Acquire { ttl: Ttl::None, .. } | Action::Increment);
            // A script that takes the key may set its expiry in a second command.
            let one_script = other.action.is_acquire() && other.location == operation.location;
            other.key == operation.key && (bare || one_script)
        })
    }
}

/// What to do instead, in the words of one store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    pub acquire: Option<String>,
    pub release: Option<String>,
}

/// One operation on a key of a key-value store.
#[derive(Debug, Clone)]
pub struct Operation {
    pub action: Action,
    /// The lock (or other key) in [`super::Inventory::keys`].
    pub key: usize,
    /// Where a reader should look: the call where the key is known by name.
    pub location: Location,
    /// The command itself, when it is inside a helper.
    pub inner: Location,
    /// The caller of a helper decided that the key gets no expiry.
    pub expiry_from_caller: bool,
    /// The calls between the two, outermost first.
    pub via: Vec<Location>,
    /// The function in which it is written, such as `release_lock`.
    pub function: String,
    /// Its number in the trace of the sequence's function; the commands of one script share it.
    pub step: usize,
    /// The comparisons with a stored value that must have held for it to run.
    pub checks: Vec<OwnerCheck>,
    /// The acquire of this sequence whose success is known where it runs.
    pub after_acquire: Option<usize>,
    /// The look at its key (a read, or a question whether it exists) whose answer lets it run.
    pub decided_by: Option<usize>,
    /// A WATCH on its key came before it, and it is queued in a transaction.
    pub watched: bool,
    /// The pipeline that it is queued in, and whether that runs as MULTI … EXEC.
    pub pipeline: Option<(usize, bool)>,
    pub context: Context,
    pub reply: ReplyUse,
    /// The call that started the task that it runs in.
    pub spawned_at: Option<Location>,
    /// An error of the store counts as a positive reply.
    pub error_is_yes: bool,
    /// The key holds a value that is different for each acquisition.
    pub token_in_key: bool,
    /// Its comparison is with what was read from the store before: that nothing has changed, not who it is.
    pub compares_reading: bool,
    /// The loop that repeats it, and what that does when it fails.
    pub repetition: Option<Repetition>,
    /// Its library's keys are locks.
    pub is_lock: bool,
    /// What its store offers instead; `None` for what the rules say of Redis.
    pub advice: Option<Arc<Advice>>,
    /// Its text, where a fix may want to write it anew.
    pub written: Option<Box<WrittenCommand>>,
    pub is_test: bool,
}

impl Operation {
    /// How to take the lock in one step.
    pub fn advice_on_acquire<'a>(&'a self, redis: &'a str) -> &'a str {
        self.advice.as_deref().and_then(|advice| advice.acquire.as_deref()).unwrap_or(redis)
    }

    /// How to free the lock in one step.
    pub fn advice_on_release<'a>(&'a self, redis: &'a str) -> &'a str {
        self.advice.as_deref().and_then(|advice| advice.release.as_deref()).unwrap_or(redis)
    }

    /// Where the function that the sequence is of makes it, or calls the helper that does.
    pub fn place(&self) -> Location {
        self.via.first().copied().unwrap_or(self.location)
    }

    /// Where this operation is called in the function that also calls `other`: the operation itself, or
    /// the helper that leads to it.
    pub fn place_beside(&self, other: &Operation) -> Location {
        let common = self.via.iter().zip(&other.via).take_while(|(mine, its)| mine == its).count();
        self.via.get(common).copied().unwrap_or(self.inner)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// SET NX and its like.
    Acquire {
        ttl: Ttl,
        owner: OwnerValue,
    },
    /// A SET that overwrites whatever is there, or (`only_if_present`) whoever's it is.
    Overwrite {
        only_if_present: bool,
        ttl: Ttl,
        owner: OwnerValue,
    },
    Read,
    Exists,
    /// `compared`: only while the stored value is the given one.
    Delete {
        compared: bool,
    },
    Expire {
        compared: bool,
        ttl: Ttl,
    },
    Increment,
    Watch,
}

impl Action {
    pub fn is_acquire(&self) -> bool {
        matches!(self, Action::Acquire { .. })
    }

    /// The lifetime that it gives the key, where one is given.
    pub fn lifetime(&self) -> Option<&Lifetime> {
        match self {
            Action::Acquire { ttl: Ttl::Given(lifetime), .. }
            | Action::Overwrite { ttl: Ttl::Given(lifetime), .. }
            | Action::Expire { ttl: Ttl::Given(lifetime), .. } => Some(lifetime),
            _ => None,
        }
    }

    /// More time for whoever holds the key by now.
    pub fn is_plain_renewal(&self) -> bool {
        matches!(
            self,
            Action::Expire { compared: false, .. } | Action::Overwrite { only_if_present: true, .. }
        )
    }
}

/// A lifetime, as far as the text shows it.
#[derive(Debug, Clone, PartialEq)]
pub enum Ttl {
    /// None is given.
    None,
    Given(Lifetime),
    /// Computed from this process's wall clock, read at this place.
    WallClock(Location),
    /// It ends at a moment of this process's wall clock, read at this place.
    UntilWallClock(Location),
}

/// A span of time, as far as the text shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lifetime {
    pub millis: Option<i128>,
    /// The part of a named value that it is, such as half of `ttl`.
    pub share: Option<Share>,
    /// How it was spoilt on its way into the command.
    pub damage: Option<Damage>,
}

/// What happened to a lifetime between the code that chose it and the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// What is less than a whole unit was cut off.
    Cut,
    /// It went through a type of 32 bits or fewer.
    Narrowed,
    SecondsAsMilliseconds,
    MillisecondsAsSeconds,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub of: String,
    pub numerator: i128,
    pub denominator: i128,
}

impl Lifetime {
    pub const UNKNOWN: Lifetime = Lifetime { millis: None, share: None, damage: None };

    pub fn is_known(&self) -> bool {
        self.millis.is_some() || self.share.is_some()
    }

    /// This span as a fraction of another one: numerator and denominator, both positive.
    pub fn as_part_of(&self, whole: &Lifetime) -> Option<(i128, i128)> {
        let by_share = || {
            let (mine, its) = (self.share.as_ref()?, whole.share.as_ref()?);
            let numerator = mine.numerator.checked_mul(its.denominator)?;
            let denominator = mine.denominator.checked_mul(its.numerator)?;
            (mine.of == its.of).then_some((numerator, denominator))
        };
        let by_millis = || Some((self.millis?, whole.millis?));
        by_share().or_else(by_millis).filter(|(part, whole)| *part > 0 && *whole > 0)
    }
}

/// What is stored to recognise the holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerValue {
    /// A random number or UUID made for it.
    Unique,
    Constant(String),
    /// Names the process or its host: a constant, an identifier made once, a host name.
    PerProcess,
    /// A variable, parameter or field of this name.
    Named(String),
    /// What the store has answered: a count, a copy of something else.
    Read,
    Unknown,
}

/// "The value that `read` found is (not) equal to something."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerCheck {
    /// The position of the read in the sequence.
    pub read: usize,
    pub equal: bool,
    /// The other side is a constant of the program, such as a state.
    pub with_constant: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    pub in_loop: bool,
    /// In a task or thread that was started and not awaited on the spot.
    pub spawned: bool,
    pub in_drop: bool,
    /// Behind a `sleep` on the same path.
    pub after_sleep: bool,
    /// Written in a Lua script.
    pub in_script: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyUse {
    Tested,
    Returned,
    /// Handed to code that is not followed.
    Passed,
    Ignored,
}
