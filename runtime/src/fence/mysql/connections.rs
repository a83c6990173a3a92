//! Where fenced transactions get their connections from: those that rest, or new ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mysql_async::Opts;

use super::failure::failure;
use crate::fence::FenceError;
use crate::mysql_desk::Desk;

/// The longest that every server accepts for its limits, in seconds.
const LONGEST: u64 = 31_536_000;

/// Well below every limit that is set, so that the server cannot have closed a connection that has rested for less.
const FRESH: Duration = Duration::from_millis(250);

/// Connections that are kept for the next transaction; as many as were ever used at once.
pub(super) struct Connections {
    options: Opts,
    idle: Mutex<Vec<Limited>>,
}

/// A connection with the limits that were set on it, in seconds.
struct Limited {
    desk: Desk,
    seconds: u64,
}

impl Connections {
    pub(super) fn new(options: Opts) -> Self {
        Self { options, idle: Mutex::default() }
    }

    fn rested(&self) -> Option<Limited> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// A connection on loan: closed, unless it is given back.
pub(super) struct Lent {
    connections: Arc<Connections>,
    limited: Limited,
}

impl Lent {
    /// A connection on which a session that stands still in a transaction ends after about `ttl`, and a wait for
    /// a lock too. Setting these limits also shows whether a connection that has rested is still good.
    pub(super) async fn open(
        connections: &Arc<Connections>,
        action: &'static str,
        ttl: Duration,
    ) -> Result<Self, FenceError> {
        Self::find(connections, action, ttl, false).await
    }

    /// The same for a transaction, for which the limits that were set lately are good enough: whatever the last work
    /// may have set, a transaction is begun in so many words.
    pub(super) async fn for_transaction(
        connections: &Arc<Connections>,
        action: &'static str,
        ttl: Duration,
    ) -> Result<Self, FenceError> {
        Self::find(connections, action, ttl, true).await
    }

    async fn find(
        connections: &Arc<Connections>,
        action: &'static str,
        ttl: Duration,
        trusting: bool,
    ) -> Result<Self, FenceError> {
        let seconds = ttl.as_millis().div_ceil(1000);
        let seconds = u64::try_from(seconds).unwrap_or(LONGEST).clamp(1, LONGEST);
        let limits = format!(
            "SET SESSION wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}, autocommit = 1"
        );
        let lent = |desk| Self { connections: Arc::clone(connections), limited: Limited { desk, seconds } };
        while let Some(Limited { desk, seconds: set }) = connections.rested() {
            let is_ready = trusting && set == seconds && desk.has_answered_within(FRESH);
            if is_ready || desk.ask(limits.clone(), ()).await.is_ok() {
                return Ok(lent(desk));
            }
        }
        let opened = Desk::open(&connections.options, &[&limits]).await;
        opened.map(lent).map_err(|error| failure(action, error))
    }

    pub(super) fn desk(&self) -> &Desk {
        &self.limited.desk
    }

    pub(super) fn give_back(self) {
        self.connections.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.limited);
    }
}
