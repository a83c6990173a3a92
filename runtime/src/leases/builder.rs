//! Setting up leases: collects wishes, and checks them against the store.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Leases, Shared};
use crate::clock::{BootClock, Clock};
use crate::measures;
use crate::renewal::Keeper;
use crate::settings::{Settings, SettingsError, Wishes};
use crate::store::AnyStore;

/// Sets up [`Leases`]. Everything has a default; most users set the TTL only.
#[must_use]
pub struct LeasesBuilder {
    store: Arc<dyn AnyStore>,
    wishes: Wishes,
    clock: Arc<dyn Clock>,
    closing: CancellationToken,
}

impl LeasesBuilder {
    pub(super) fn new(store: Arc<dyn AnyStore>) -> Self {
        let (wishes, clock, closing) = (Wishes::default(), Arc::new(BootClock), CancellationToken::new());
        Self { store, wishes, clock, closing }
    }

    /// How long a lease lasts in the store without renewal. Default
    /// [30 seconds](crate::settings::DEFAULT_TTL). Long enough for the pauses that are usual, short enough for
    /// the wait after a crash.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.wishes.ttl = ttl;
        self
    }

    /// The time between renewals. Default: a third of the TTL.
    pub fn renew_every(mut self, interval: Duration) -> Self {
        self.wishes.renew_every = Some(interval);
        self
    }

    /// How many renewals in a row may have no answer; the last of them cancels the work. Default: 2.
    pub fn failures_allowed(mut self, failures: u32) -> Self {
        self.wishes.failures_allowed = failures;
        self
    }

    /// How much faster than ours the store's clock may run during one TTL. Default: 1 % of the TTL and 2 ms.
    pub fn drift_margin(mut self, margin: Duration) -> Self {
        self.wishes.drift_margin = Some(margin);
        self
    }

    /// How long before the TTL ends the work is cancelled, so that it has time to stop. Default: a tenth of the
    /// TTL.
    pub fn stop_margin(mut self, margin: Duration) -> Self {
        self.wishes.stop_margin = Some(margin);
        self
    }

    /// How long one request to the store may take. Default: a sixth of the TTL.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.wishes.attempt_timeout = Some(timeout);
        self
    }

    /// The first and the longest wait between two tries for a lease that is held. Waits double, and are varied
    /// by chance, so that waiters do not come all at once. Default: 50 ms and 500 ms.
    pub fn retry_between(mut self, first: Duration, most: Duration) -> Self {
        (self.wishes.retry_first, self.wishes.retry_most) = (first, most);
        self
    }

    /// How long [`acquire`](Leases::acquire) waits for a lease that is held. Default: as long as it takes.
    pub fn wait_at_most(mut self, wait: Duration) -> Self {
        self.wishes.wait_at_most = Some(wait);
        self
    }

    /// Ties the leases to a shutdown: when `token` fires, no lease is granted any more and all work is
    /// cancelled.
    pub fn cancel_on(mut self, token: &CancellationToken) -> Self {
        self.closing = token.child_token();
        self
    }

    /// The clock by which deadlines are judged. Default: [`BootClock`]. Another one is for tests.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Checks the settings and starts the background task on the present runtime.
    ///
    /// # Errors
    /// [`BuildError`] when the settings contradict each other or the store, or when no runtime is running.
    pub fn build(self) -> Result<Leases, BuildError> {
        let settings = Settings::check(&self.wishes, &self.store.capabilities())?;
        let runtime = Handle::try_current().map_err(|_| BuildError::NoRuntime)?;
        measures::describe();
        let (keeper, commands) = mpsc::unbounded_channel();
        runtime.spawn(
            Keeper::new(Arc::clone(&self.store), Arc::clone(&self.clock), settings.clone(), commands).run(),
        );
        let (store, clock, closing) = (self.store, self.clock, self.closing);
        let open = TaskTracker::new();
        Ok(Leases(Arc::new(Shared { store, settings, clock, runtime, keeper, closing, open })))
    }
}

/// Why [`Leases`] could not be set up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There is no Tokio runtime on this thread.
    #[error("leases are renewed by a task, and no Tokio runtime is running here; call `build` inside one")]
    NoRuntime,
}
