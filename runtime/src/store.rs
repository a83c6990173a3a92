//! What a store of leases must do, and what it says when it cannot: the contract between the core and Redis,
//! PostgreSQL and the others. No policy here: when to renew, when to give up and what to cancel is the core's.
//!
//! To add a store, implement [`LeaseStore`] and run the conformance suite over it
//! (`tests/support/conformance.rs`).

#[cfg(feature = "consul")]
pub mod consul;
mod erased;
mod error;
#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(any(feature = "consul", feature = "etcd"))]
mod http;
#[cfg(any(feature = "etcd", feature = "redis", feature = "postgres", feature = "mysql"))]
mod link;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "redlock")]
pub mod redlock;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod watch;

use std::future::Future;
use std::time::Duration;

pub(crate) use erased::{AnyStore, BoxFuture};
pub use error::{Cause, StoreError};
pub use watch::{Waiters, Watch, WatchSender};

use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

/// A place that keeps leases: it grants each key to one owner at a time, and ends a grant by itself.
///
/// Every operation must be one atomic step in the store, must compare the owner value in that same step, and
/// must go on its own connection, never through a pool that the protected work can empty. The core wraps each
/// call in a timeout, may drop its future at any moment, and calls [`reset`](LeaseStore::reset) when a call
/// timed out; so a dropped future must leave the store's client usable.
///
/// All times are judged by the store's own clock and given to it as durations.
pub trait LeaseStore: Send + Sync + 'static {
    /// What the store can and cannot promise.
    fn capabilities(&self) -> Capabilities;

    /// Takes the key for `claim.owner` if nobody holds it, and draws the next token in the same step.
    ///
    /// The grant must last at least `claim.ttl`, counted from when the store executes the request, and its token
    /// must be above that of every earlier grant of the key. A key that is held is left untouched. The core
    /// never sends one owner value twice.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not be asked or its answer not be understood. The outcome is then
    /// unknown, and the core will call [`release`](LeaseStore::release) for the same owner.
    fn acquire(&self, claim: &Claim) -> impl Future<Output = Result<Acquisition, StoreError>> + Send;

    /// Lets the grant of `claim.owner` last another `claim.ttl` from now, if it is still this owner's. Must never
    /// bring back a grant that has ended.
    ///
    /// # Errors
    /// [`StoreError`] when the outcome is unknown. "Not this owner's" is an answer, not an error.
    fn renew(&self, claim: &Claim) -> impl Future<Output = Result<Renewal, StoreError>> + Send;

    /// Ends the grant of `claim.owner`, if it is still this owner's, and leaves every other alone. The token's
    /// count must survive it.
    ///
    /// # Errors
    /// [`StoreError`] when the outcome is unknown.
    fn release(&self, claim: &Claim) -> impl Future<Output = Result<Surrender, StoreError>> + Send;

    /// Starts to listen for hints that the key may be free. Hints only shorten a wait: one may be lost or come
    /// for nothing. A store without them keeps this default, which never hints.
    ///
    /// # Errors
    /// [`StoreError`] when listening could not start; the core then waits without hints.
    fn watch(&self, key: &LeaseKey) -> impl Future<Output = Result<Watch, StoreError>> + Send {
        let _ = key;
        async { Ok(Watch::silent()) }
    }

    /// Whose the key is at the moment, for those who only look on. Nothing may be decided by it: the answer is old
    /// when it arrives. A store that cannot tell keeps this default.
    ///
    /// # Errors
    /// [`StoreError`] when the store gave no answer, or cannot tell.
    fn holder(&self, key: &LeaseKey) -> impl Future<Output = Result<Option<OwnerValue>, StoreError>> + Send {
        let _ = key;
        let refusal = StoreError::Refused {
            store: self.capabilities().name(),
            action: "asking for the holder",
            cause: "this store cannot tell whose a lease is".into(),
            advice: "observe elections by another store",
        };
        async { Err(refusal) }
    }

    /// A call timed out: whatever connection it used may be dead without knowing it, so the next call must go on
    /// a new one. Must not block.
    fn reset(&self) {}
}

/// What an operation is about: one acquisition of one key.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The lease's name.
    pub key: LeaseKey,
    /// The owner value of this acquisition, and of no other.
    pub owner: OwnerValue,
    /// How long the grant is to last from now. Within [`Capabilities`], a whole number of its unit.
    pub ttl: Duration,
}

impl Claim {
    /// The TTL in milliseconds, for stores that count in them. Exact, since no store with this unit accepts a
    /// finer TTL; never below 1.
    #[must_use]
    pub fn ttl_milliseconds(&self) -> i64 {
        i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX).max(1)
    }
}

/// The store's answer to an acquire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquisition {
    /// The key is this owner's now.
    Granted(Grant),
    /// Somebody else holds it.
    Held {
        /// How long the present grant will last unless it is renewed, if the store can tell.
        ends_within: Option<Duration>,
    },
}

/// What a store has granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// The token of this grant, drawn in the same atomic step.
    pub token: FencingToken,
    /// How long the store will keep the grant. The core uses the shorter of this and what it asked for.
    pub ttl: Duration,
}

/// The store's answer to a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// The grant lasts for another TTL.
    Renewed {
        /// How long the store will keep it from now.
        ttl: Duration,
    },
    /// The key is not this owner's (any more): it ended, or somebody else has it.
    NotMine,
}

/// The store's answer to a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrender {
    /// The grant was this owner's, and has ended.
    Released,
    /// The key was not this owner's; nothing was changed.
    NotMine,
}

/// What a store can and cannot promise. Made with [`Capabilities::new`] and its setters, so that a store written
/// today has an answer to a question added tomorrow.
#[derive(Debug, Clone)]
pub struct Capabilities {
    pub(crate) name: &'static str,
    pub(crate) min_ttl: Duration,
    pub(crate) max_ttl: Duration,
    pub(crate) ttl_unit: Duration,
    pub(crate) tokens: TokenDurability,
    pub(crate) hints: bool,
    pub(crate) late_expiry: Duration,
    pub(crate) late_ttls: u32,
}

impl Capabilities {
    /// Of a store with this name (`redis`, `postgres`…): TTLs from one millisecond to 100 years in steps of a
    /// millisecond, tokens that live as long as the store's data, no hints.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            min_ttl: Duration::from_millis(1),
            max_ttl: Duration::from_secs(100 * 365 * 86_400),
            ttl_unit: Duration::from_millis(1),
            tokens: TokenDurability::WithData,
            hints: false,
            late_expiry: Duration::ZERO,
            late_ttls: 0,
        }
    }

    /// The shortest and the longest TTL that the store keeps exactly.
    #[must_use]
    pub fn ttl_between(mut self, least: Duration, most: Duration) -> Self {
        (self.min_ttl, self.max_ttl) = (least, most);
        self
    }

    /// The step in which the store counts TTLs; others are refused rather than rounded.
    #[must_use]
    pub fn ttl_in_steps_of(mut self, unit: Duration) -> Self {
        self.ttl_unit = unit;
        self
    }

    /// How far the store's tokens keep growing.
    #[must_use]
    pub fn tokens(mut self, durability: TokenDurability) -> Self {
        self.tokens = durability;
        self
    }

    /// That [`LeaseStore::watch`] gives hints.
    #[must_use]
    pub fn with_hints(mut self) -> Self {
        self.hints = true;
        self
    }

    /// How much longer than its TTL the store may keep a grant, in the worst case.
    #[must_use]
    pub fn expires_late_by(mut self, most: Duration) -> Self {
        self.late_expiry = most;
        self
    }

    /// The same, in TTLs of the grant; both add up.
    #[must_use]
    pub fn expires_late_by_ttls(mut self, most: u32) -> Self {
        self.late_ttls = most;
        self
    }

    /// The store's name, as it stands in errors and events.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The shortest TTL.
    #[must_use]
    pub fn min_ttl(&self) -> Duration {
        self.min_ttl
    }

    /// The longest TTL.
    #[must_use]
    pub fn max_ttl(&self) -> Duration {
        self.max_ttl
    }

    /// The step in which TTLs are counted.
    #[must_use]
    pub fn ttl_unit(&self) -> Duration {
        self.ttl_unit
    }

    /// How far tokens keep growing.
    #[must_use]
    pub fn token_durability(&self) -> TokenDurability {
        self.tokens
    }

    /// Whether waiters are woken early.
    #[must_use]
    pub fn has_hints(&self) -> bool {
        self.hints
    }

    /// How much longer than its TTL a grant of this TTL may last.
    #[must_use]
    pub fn late_expiry(&self, ttl: Duration) -> Duration {
        self.late_expiry.saturating_add(ttl.saturating_mul(self.late_ttls))
    }
}

/// What a store's tokens survive. Where they can go back, fence rows in the protected storage notice it
/// (see [`crate::fence`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenDurability {
    /// Only as long as the process: a restart begins again at 1.
    Process,
    /// As long as the store's data: a restart without persistence, an eviction, a flush or a failover to a
    /// replica that lags can bring an old number back.
    WithData,
    /// Through crashes of the store: each grant is on disk before it is answered. A restored backup still
    /// brings old numbers back.
    Durable,
    /// Through the loss of a minority of the store's servers: each grant is agreed on by a majority.
    Consensus,
}
