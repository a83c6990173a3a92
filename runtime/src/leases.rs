//! Acquiring leases of one store: trying once, waiting, running work under one, and closing. What happens to a
//! lease once it is held is the keeper's.

mod acquire;
mod builder;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use acquire::AcquireError;
pub use builder::{BuildError, LeasesBuilder};

use crate::clock::Clock;
use crate::key::{KeyError, LeaseKey};
use crate::loss::LeaseLost;
use crate::renewal::Command;
use crate::settings::Settings;
use crate::store::{AnyStore, Capabilities, LeaseStore};
use crate::tenure::Tenure;

/// The leases of one store, all with the same settings. Cheap to clone; clones share one background task, which
/// renews and releases for all of them.
#[derive(Clone)]
pub struct Leases(Arc<Shared>);

struct Shared {
    store: Arc<dyn AnyStore>,
    settings: Settings,
    clock: Arc<dyn Clock>,
    runtime: Handle,
    keeper: mpsc::UnboundedSender<Command>,
    /// Cancels all work, and ends all waiting.
    closing: CancellationToken,
    /// Everything that must have ended before the process may: attempts under way and leases held.
    open: TaskTracker,
}

impl Leases {
    /// Begins to set up leases over a store.
    pub fn builder(store: impl LeaseStore) -> LeasesBuilder {
        LeasesBuilder::new(Arc::new(store))
    }

    /// The settings, with all that was derived from the TTL.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// What the store can and cannot promise.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.0.store.capabilities()
    }

    /// Runs `work` under the lease: waits for the lease as [`acquire`](Leases::acquire) does, runs `work` until it
    /// is done or must stop, waits until its fenced transactions are committed or rolled back, and releases.
    ///
    /// Cancel-safe: when this is dropped, `work` is dropped, and rollback and release go on in the background.
    ///
    /// # Errors
    /// [`RunError::Acquire`] when the lease could not be had (`work` was not started), [`RunError::Lost`] when
    /// `work` was stopped before it was done, [`RunError::Work`] with its own error.
    pub async fn run<T, E, F, W>(
        &self,
        key: impl TryInto<LeaseKey, Error: Into<KeyError>>,
        work: F,
    ) -> Result<T, RunError<E>>
    where
        F: FnOnce(Tenure) -> W,
        W: Future<Output = Result<T, E>>,
    {
        let lease = self.acquire(key).await.map_err(RunError::Acquire)?;
        let done = lease.run(work(lease.tenure())).await;
        let outcome = lease.release().await;
        if !outcome.is_released() {
            tracing::warn!(?outcome, "the lease was not held up to the end of the work");
        }
        match done {
            Ok(result) => result.map_err(RunError::Work),
            Err(lost) => Err(RunError::Lost(lost)),
        }
    }

    /// Stops: no lease is granted any more, waiting ends, all work is cancelled. Then waits until all leases have
    /// been given back, for at most `most`. May be called more than once. Cancel-safe.
    ///
    /// # Errors
    /// [`StillOpen`] when some were not given back in time; their TTL will free them.
    pub async fn close(&self, most: Duration) -> Result<(), StillOpen> {
        self.0.closing.cancel();
        self.0.open.close();
        tokio::time::timeout(most, self.0.open.wait())
            .await
            .map_err(|_| StillOpen { leases: self.0.open.len(), after: most })
    }

    /// Fires when these leases stop, by [`close`](Leases::close) or by what they were tied to.
    #[must_use]
    pub fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    pub(crate) fn store(&self) -> &dyn AnyStore {
        &*self.0.store
    }

    fn is_closing(&self) -> bool {
        self.0.closing.is_cancelled()
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases")
            .field("store", &self.0.store.capabilities().name())
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

/// Why [`Leases::run`] has no result.
#[derive(Debug, Error)]
pub enum RunError<E> {
    /// The lease could not be had; the work was not started.
    #[error(transparent)]
    Acquire(AcquireError),
    /// The work was stopped before it was done.
    #[error(transparent)]
    Lost(LeaseLost),
    /// The work failed by itself.
    // Not as `source`, which would shut out `Box<dyn Error>` and its like; the text has it all.
    #[error("the work under the lease failed: {0}")]
    Work(E),
}

/// Leases that were not given back in time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{leases} leases or attempts were not given back within {after:?}; their TTL will free them. Work that does \
     not watch its cancellation, or a store without answer, is the usual reason"
)]
pub struct StillOpen {
    /// How many.
    pub leases: usize,
    /// How long was waited.
    pub after: Duration,
}
