//! Taking a lease: one attempt, and waiting for one that is held. An attempt runs in a task of its own, so that
//! a caller who goes away in the middle of it leaves nothing behind in the store.

use std::time::Duration;

use thiserror::Error;
use tokio::sync::oneshot;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::{debug, warn};

use super::{Leases, Shared};
use crate::clock::Moment;
use crate::key::{KeyError, LeaseKey};
use crate::lease::Lease;
use crate::measures;
use crate::renewal::{Command, Schedule, within};
use crate::store::{Acquisition, Claim, Grant, StoreError, Watch};
use crate::tenure::Tenure;
use crate::token::{NoRandomness, OwnerValue};
use std::sync::Arc;

/// What one attempt found.
enum Attempt {
    Granted(Lease),
    Held { ends_within: Option<Duration> },
    TooLate { after: Duration },
}

impl Leases {
    /// Tries once to take the lease.
    ///
    /// Cancel-safe: when this is dropped, a grant that is under way is given back in the background.
    ///
    /// # Errors
    /// [`AcquireError::Held`] when somebody else has it, [`AcquireError::Store`] when the store gave no answer
    /// within [`attempt_timeout`](crate::Settings::attempt_timeout), and the others as they say.
    pub async fn try_acquire(
        &self,
        key: impl TryInto<LeaseKey, Error: Into<KeyError>>,
    ) -> Result<Lease, AcquireError> {
        let key = checked(key)?;
        let began = self.0.clock.now();
        match self.attempt(&key).await? {
            Attempt::Granted(lease) => Ok(self.waited(lease, began)),
            Attempt::Held { ends_within } => Err(AcquireError::Held { key, ends_within }),
            Attempt::TooLate { after } => Err(AcquireError::TooLate { key, after }),
        }
    }

    /// Takes the lease, waiting while somebody else has it, for at most
    /// [`wait_at_most`](super::LeasesBuilder::wait_at_most) if that was set. Ends at shutdown.
    ///
    /// No queue is kept: of several waiters, any may come first. Cancel-safe as
    /// [`try_acquire`](Leases::try_acquire) is.
    ///
    /// # Errors
    /// [`AcquireError::WaitedTooLong`] at the end of the wait; [`AcquireError::Store`] when the store refuses,
    /// or gives no answer as many times in a row as renewals may fail; and the others as they say.
    pub async fn acquire(
        &self,
        key: impl TryInto<LeaseKey, Error: Into<KeyError>>,
    ) -> Result<Lease, AcquireError> {
        self.wait_for(checked(key)?, self.0.settings.wait_at_most).await
    }

    /// As [`acquire`](Leases::acquire), with a wait of its own.
    ///
    /// # Errors
    /// As [`acquire`](Leases::acquire).
    pub async fn acquire_within(
        &self,
        key: impl TryInto<LeaseKey, Error: Into<KeyError>>,
        most: Duration,
    ) -> Result<Lease, AcquireError> {
        self.wait_for(checked(key)?, Some(most)).await
    }

    async fn wait_for(&self, key: LeaseKey, most: Option<Duration>) -> Result<Lease, AcquireError> {
        let began = self.0.clock.now();
        let mut backoff = Backoff::new(&self.0.settings);
        let mut watch = None;
        let mut failures = 0;
        loop {
            let ends_within = match self.attempt(&key).await {
                Ok(Attempt::Granted(lease)) => return Ok(self.waited(lease, began)),
                Ok(Attempt::Held { ends_within }) => {
                    failures = 0;
                    ends_within
                }
                Ok(Attempt::TooLate { .. }) => None,
                Err(AcquireError::Store(error)) if error.is_retryable() => {
                    failures += 1;
                    if failures >= self.0.settings.failures_allowed {
                        return Err(AcquireError::Store(error));
                    }
                    None
                }
                Err(error) => return Err(error),
            };
            let waited = self.0.clock.now().since(began);
            let left = most.map_or(Duration::MAX, |most| most.saturating_sub(waited));
            if left.is_zero() {
                return Err(AcquireError::WaitedTooLong { key, waited });
            }
            let Some(watch) = &mut watch else {
                // A release between the attempt and the listening would go unheard: try again at once.
                watch = Some(self.listen(&key).await);
                continue;
            };
            let pause = backoff.next(ends_within).min(left);
            tokio::select! {
                biased;
                () = self.0.closing.cancelled() => return Err(AcquireError::ShuttingDown { key }),
                () = watch.hint() => backoff.restart(),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn waited(&self, lease: Lease, since: Moment) -> Lease {
        let waited = self.0.clock.now().since(since);
        measures::time(measures::ACQUIRE_WAIT, self.0.store_name(), waited);
        lease
    }

    async fn listen(&self, key: &LeaseKey) -> Watch {
        let store = &*self.0.store;
        let limit = self.0.settings.attempt_timeout;
        within(limit, "listening for releases", store, store.watch(key)).await.unwrap_or_else(|error| {
            warn!(%key, %error, "waiting without hints");
            Watch::silent()
        })
    }

    /// One attempt, counted.
    async fn attempt(&self, key: &LeaseKey) -> Result<Attempt, AcquireError> {
        let attempt = self.try_once(key).await;
        let outcome = match &attempt {
            Ok(Attempt::Granted(_)) => "granted",
            Ok(Attempt::Held { .. }) => "held",
            Ok(Attempt::TooLate { .. }) => "too_late",
            // The store was not asked.
            Err(AcquireError::ShuttingDown { .. } | AcquireError::NoRandomness(_)) => return attempt,
            Err(_) => "failed",
        };
        measures::count(measures::ATTEMPTS, self.0.store_name(), "outcome", outcome);
        attempt
    }

    /// One attempt, in a task that outlives the caller: whatever it is granted when nobody waits for it any more
    /// is dropped there, and so given back.
    async fn try_once(&self, key: &LeaseKey) -> Result<Attempt, AcquireError> {
        if self.is_closing() {
            return Err(AcquireError::ShuttingDown { key: key.clone() });
        }
        let shared = Arc::clone(&self.0);
        let claim = Claim { key: key.clone(), owner: OwnerValue::fresh()?, ttl: shared.settings.ttl };
        let (sender, answer) = oneshot::channel();
        let open = self.0.open.token();
        self.0.runtime.spawn(async move {
            // A caller who is gone drops the lease in the answer, which gives it back.
            let _unheard = sender.send(shared.ask(claim, open).await);
        });
        let limit = self.0.settings.attempt_timeout;
        tokio::select! {
            biased;
            found = answer => match found {
                Ok(found) => found,
                // The task ends without an answer only when its runtime does.
                Err(_) => Err(AcquireError::ShuttingDown { key: key.clone() }),
            },
            () = tokio::time::sleep(limit) => {
                self.0.store.reset();
                let store = self.0.store_name();
                Err(StoreError::TimedOut { store, action: "an acquire", after: limit }.into())
            }
        }
    }
}

impl Shared {
    fn store_name(&self) -> &'static str {
        self.store.capabilities().name()
    }

    /// Asks the store, and makes a lease of a grant.
    async fn ask(&self, claim: Claim, open: TaskTrackerToken) -> Result<Attempt, AcquireError> {
        // Before the request: the store begins to count later, so it cannot end the grant earlier than we think.
        let sent = self.clock.now();
        let store = &*self.store;
        // After a TTL nothing that comes is of use; the caller's own, shorter limit is elsewhere.
        let answer = within(claim.ttl, "an acquire", store, store.acquire(&claim)).await;
        match answer {
            Ok(Acquisition::Held { ends_within }) => Ok(Attempt::Held { ends_within }),
            Ok(Acquisition::Granted(grant)) => Ok(self.granted(claim, grant, sent, open)),
            Err(error) => {
                if error.is_retryable() {
                    self.take_back(&claim).await;
                }
                Err(error.into())
            }
        }
    }

    fn granted(&self, claim: Claim, grant: Grant, sent: Moment, open: TaskTrackerToken) -> Attempt {
        let deadline = Schedule::from(&self.settings).deadline(sent, grant.ttl);
        let (clock, cancelled) = (Arc::clone(&self.clock), self.closing.child_token());
        let tenure = Tenure::new(claim, grant.token, clock, deadline, cancelled);
        let hold = Command::Hold { tenure: tenure.clone(), sent, granted: grant.ttl, open };
        // Fails only when the keeper's runtime has ended, and then this task has too.
        let _gone = self.keeper.send(hold);
        let lease = Lease::new(tenure, self.keeper.clone());
        let now = self.clock.now();
        if now >= deadline {
            debug!(key = %lease.key(), "granted too late to be of use");
            return Attempt::TooLate { after: now.since(sent) };
        }
        Attempt::Granted(lease)
    }

    /// An acquire without answer may have been executed.
    async fn take_back(&self, claim: &Claim) {
        let store = &*self.store;
        let limit = self.settings.attempt_timeout;
        let freed = within(limit, "taking back an acquire", store, store.release(claim)).await;
        debug!(key = %claim.key, ?freed, "took back an acquire without answer");
    }
}

fn checked(key: impl TryInto<LeaseKey, Error: Into<KeyError>>) -> Result<LeaseKey, AcquireError> {
    key.try_into().map_err(|error| AcquireError::Key(error.into()))
}

/// Growing pauses between tries, varied by chance.
struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    fn new(settings: &crate::Settings) -> Self {
        Self { first: settings.retry_first, most: settings.retry_most, next: settings.retry_first }
    }

    fn restart(&mut self) {
        self.next = self.first;
    }

    /// Between a half and the whole of the present pause, or up to the moment at which the grant ends.
    fn next(&mut self, ends_within: Option<Duration>) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.most);
        // Without randomness all waiters come at once, which costs requests, not safety.
        let chance = f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX);
        let varied = pause / 2 + (pause / 2).mul_f64(chance);
        // One millisecond more: a grant that ends now must have ended when we come.
        ends_within.map_or(varied, |end| varied.min(end.saturating_add(Duration::from_millis(1))))
    }
}

/// Why a lease was not acquired. Nothing is left behind in the store, or will be given back in the background.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// The name cannot name a lease.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Somebody else has it.
    #[error("lease `{key}` is held by somebody else{}", ends(*ends_within))]
    Held {
        /// The lease's name.
        key: LeaseKey,
        /// How long it will be held unless it is renewed, if the store can tell.
        ends_within: Option<Duration>,
    },
    /// Somebody else had it all the time that was waited.
    #[error(
        "lease `{key}` could not be had in {waited:?}; wait longer, or find out what its holder does so long"
    )]
    WaitedTooLong {
        /// The lease's name.
        key: LeaseKey,
        /// How long was waited.
        waited: Duration,
    },
    /// The grant arrived when its time was used up, and has been given back.
    #[error(
        "lease `{key}` was granted only after {after:?}, too late to be of use; the store is slow, or the TTL short"
    )]
    TooLate {
        /// The lease's name.
        key: LeaseKey,
        /// How long the answer took.
        after: Duration,
    },
    /// The store gave no answer, or refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The process is shutting down.
    #[error("lease `{key}` is not acquired, since the process is shutting down")]
    ShuttingDown {
        /// The lease's name.
        key: LeaseKey,
    },
    /// No owner value could be drawn.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

fn ends(within: Option<Duration>) -> String {
    within.map_or_else(String::new, |end| format!("; without renewal it ends within {end:?}"))
}
