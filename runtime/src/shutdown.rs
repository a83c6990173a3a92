//! From SIGTERM to exit, in the only order that is safe: no new leases, cancel the work, wait for its rollback
//! while the leases are still renewed, release, exit. The waiting and releasing is the leases' own.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::future::join_all;
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::leases::{Leases, StillOpen};

/// A shutdown that has been asked for, or may be. Clones are the same one.
///
/// Build leases with [`cancel_on`](crate::LeasesBuilder::cancel_on)`(shutdown.token())`; let servers stop on
/// [`requested`](Shutdown::requested) (axum's `with_graceful_shutdown` takes that future as it is; with actix, stop
/// its handle after it); and end `main` with [`drain`](Shutdown::drain).
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    requested: CancellationToken,
    /// Asked for a second time: do not wait any more.
    hurried: CancellationToken,
}

impl Shutdown {
    /// A shutdown that SIGTERM or SIGINT asks for (elsewhere than on Unix, Ctrl-C). A second signal ends the
    /// waiting in [`drain`](Shutdown::drain). From now on these signals no longer end the process by themselves.
    ///
    /// # Errors
    /// [`ShutdownError`] when the signals cannot be caught, or no Tokio runtime is running.
    pub fn on_signals() -> Result<Self, ShutdownError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| ShutdownError::NoRuntime)?;
        let mut signals = Signals::listen()?;
        let shutdown = Self::manual();
        let asked = shutdown.clone();
        runtime.spawn(async move {
            loop {
                let name = signals.next().await;
                info!(signal = name, "shutting down");
                asked.request();
            }
        });
        Ok(shutdown)
    }

    /// A shutdown that only [`request`](Shutdown::request) asks for.
    #[must_use]
    pub fn manual() -> Self {
        Self::default()
    }

    /// Asks for the shutdown; the second time, asks to wait no longer. Never blocks.
    pub fn request(&self) {
        if self.requested.is_cancelled() {
            self.hurried.cancel();
        }
        self.requested.cancel();
    }

    /// Fires when the shutdown is asked for.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.requested
    }

    /// Waits until the shutdown is asked for. Needs no reference, so it can be given away. Cancel-safe.
    pub fn requested(&self) -> impl Future<Output = ()> + Send + 'static {
        self.requested.clone().cancelled_owned()
    }

    /// Closes `leases`: cancels all work under them, waits until its transactions are rolled back and the leases
    /// released, for `most` in all or until a second request. Asks for the shutdown, if nobody has. Cancel-safe,
    /// and may be repeated.
    ///
    /// # Errors
    /// [`NotDrained`] when something was not given back; its TTL will free it.
    pub async fn drain(&self, leases: &[&Leases], most: Duration) -> Result<(), NotDrained> {
        self.requested.cancel();
        let closed = tokio::select! {
            biased;
            closed = join_all(leases.iter().map(|leases| leases.close(most))) => closed,
            () = self.hurried.cancelled() => join_all(leases.iter().map(|leases| leases.close(Duration::ZERO))).await,
        };
        let open: Vec<StillOpen> = closed.into_iter().filter_map(Result::err).collect();
        if open.is_empty() { Ok(()) } else { Err(NotDrained { open }) }
    }

    /// As [`drain`](Shutdown::drain), with the exit code of `main`: success when everything was given back, else
    /// failure, with a warning that says what was not.
    pub async fn exit_code(&self, leases: &[&Leases], most: Duration) -> ExitCode {
        match self.drain(leases, most).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                warn!(%error, "shutdown is not clean");
                ExitCode::FAILURE
            }
        }
    }
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> Result<Self, ShutdownError> {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate()).map_err(ShutdownError::Signals)?;
        let interrupt = signal(SignalKind::interrupt()).map_err(ShutdownError::Signals)?;
        Ok(Self { terminate, interrupt })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            Some(()) = self.terminate.recv() => "SIGTERM",
            Some(()) = self.interrupt.recv() => "SIGINT",
            else => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Result<Self, ShutdownError> {
        Ok(Self)
    }

    async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            return std::future::pending().await;
        }
        "Ctrl-C"
    }
}

/// Why signals cannot ask for the shutdown.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// There is no Tokio runtime on this thread.
    #[error(
        "signals are awaited by a task, and no Tokio runtime is running here; call `on_signals` inside one"
    )]
    NoRuntime,
    /// The operating system refuses to have them caught.
    #[error("SIGTERM and SIGINT cannot be caught: {0}; without that, leases end only by their TTL")]
    Signals(#[source] io::Error),
}

/// Leases that were not given back before the end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", open.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct NotDrained {
    /// One entry for each [`Leases`] that was not closed in time.
    pub open: Vec<StillOpen>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_request_ends_the_waiting() {
        let shutdown = Shutdown::manual();
        let leases = Leases::builder(crate::store::memory::MemoryStore::new())
            .cancel_on(shutdown.token())
            .build()
            .unwrap();
        let lease = leases.acquire("key").await.unwrap();
        let (asked, began) = (shutdown.clone(), std::time::Instant::now());
        tokio::spawn(async move {
            asked.requested().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            asked.request();
        });
        let open = shutdown.drain(&[&leases], Duration::from_secs(60)).await.unwrap_err();
        assert_eq!(open.open.len(), 1);
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(lease.check().is_err());
        drop(lease);
        shutdown.drain(&[&leases], Duration::from_secs(60)).await.unwrap();
    }
}
