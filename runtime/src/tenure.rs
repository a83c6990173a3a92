//! What the work that is done under a lease may know of it: its token, whether it may go on, and when it must
//! stop. Cannot renew or give back anything; that is the lease's and its keeper's.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::{Clock, Moment};
use crate::key::LeaseKey;
use crate::loss::{LeaseLost, LossReason};
use crate::store::Claim;
use crate::token::{FencingToken, OwnerValue};

/// One holder's time with a lease. Cheap to clone, so that it can go with the work; clones share one fate.
#[derive(Clone)]
pub struct Tenure(Arc<Shared>);

struct Shared {
    claim: Claim,
    token: FencingToken,
    clock: Arc<dyn Clock>,
    /// In the clock's nanoseconds; only ever moved on.
    deadline: AtomicU64,
    loss: OnceLock<LossReason>,
    cancelled: CancellationToken,
    /// What must have ended before the lease is given back: transactions under its token.
    works: TaskTracker,
}

impl Tenure {
    pub(crate) fn new(
        claim: Claim,
        token: FencingToken,
        clock: Arc<dyn Clock>,
        deadline: Moment,
        cancelled: CancellationToken,
    ) -> Self {
        Self(Arc::new(Shared {
            claim,
            token,
            clock,
            deadline: AtomicU64::new(deadline.as_nanoseconds()),
            loss: OnceLock::new(),
            cancelled,
            works: TaskTracker::new(),
        }))
    }

    /// The fencing token of this grant. It never changes; a lease that is acquired again has a new one.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.0.token
    }

    /// The lease's name.
    #[must_use]
    pub fn key(&self) -> &LeaseKey {
        &self.0.claim.key
    }

    /// The owner value by which the store recognises this grant; for logs, and for looking it up in the store.
    #[must_use]
    pub fn owner(&self) -> OwnerValue {
        self.0.claim.owner
    }

    /// The moment at which the work is cancelled unless a renewal is confirmed before: the sending of the last
    /// good renewal, plus the TTL, less the drift and stop margins.
    #[must_use]
    pub fn deadline(&self) -> Moment {
        Moment::from_nanoseconds(self.0.deadline.load(Ordering::Acquire))
    }

    /// Whether the work may go on, and for how long without another renewal. Asks only the clock, never the
    /// store, so that it tells the truth also right after the process was paused.
    ///
    /// It cannot protect a write: the process may be paused right after it. Writes are protected by the token
    /// ([`crate::fence`]); this is for stopping early, and for effects that no storage can refuse.
    ///
    /// # Errors
    /// [`LeaseLost`] with the reason, once the work has been cancelled or its time has run out.
    pub fn check(&self) -> Result<Duration, LeaseLost> {
        if self.0.loss.get().is_none() {
            let left = self.deadline().since(self.0.clock.now());
            if left.is_zero() {
                self.lose(LossReason::Deadline);
            } else if !self.0.cancelled.is_cancelled() {
                return Ok(left);
            }
        }
        Err(self.lost())
    }

    /// Fires when the work must stop, before the store can give the lease to anybody else, and at shutdown.
    /// Fires once, and stays.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancelled
    }

    /// Waits until the work must stop, and says why. Cancel-safe.
    pub async fn cancelled(&self) -> LeaseLost {
        self.0.cancelled.cancelled().await;
        self.lost()
    }

    /// Runs `work` until it is done or must stop; then it is dropped where it stands. Cancel-safe if `work` is:
    /// dropping this drops `work`.
    ///
    /// # Errors
    /// [`LeaseLost`] when the work had to stop before it was done.
    pub async fn run<W: Future>(&self, work: W) -> Result<W::Output, LeaseLost> {
        self.check()?;
        tokio::select! {
            biased;
            lost = self.cancelled() => Err(lost),
            done = work => Ok(done),
        }
    }

    /// Why it ended; only asked when it has.
    fn lost(&self) -> LeaseLost {
        LeaseLost { key: self.key().clone(), token: self.token(), reason: self.loss() }
    }

    /// Without a recorded loss, the cancellation came from above: the process is shutting down.
    fn loss(&self) -> LossReason {
        self.0.loss.get().copied().unwrap_or(LossReason::ShuttingDown)
    }

    /// Records the first loss and cancels the work. Returns the loss that counts.
    pub(crate) fn lose(&self, reason: LossReason) -> LossReason {
        // The reason first: whoever sees the cancellation must find it.
        let first = *self.0.loss.get_or_init(|| reason);
        self.0.cancelled.cancel();
        first
    }

    pub(crate) fn claim(&self) -> &Claim {
        &self.0.claim
    }

    pub(crate) fn extend(&self, deadline: Moment) {
        self.0.deadline.fetch_max(deadline.as_nanoseconds(), Ordering::AcqRel);
    }

    /// The tasks that must end before the lease is given back.
    pub(crate) fn works(&self) -> &TaskTracker {
        &self.0.works
    }
}

impl fmt::Debug for Tenure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenure")
            .field("key", self.key())
            .field("token", &self.token())
            .field("loss", &self.0.loss.get())
            .finish_non_exhaustive()
    }
}
