//! Where fenced transactions get their connections from: those that rest, or new ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mysql_async::prelude::ToValue;
use mysql_async::{Error, Opts};

use super::failure::failure;
use crate::fence::FenceError;
use crate::mysql_desk::Desk;

/// The longest that every server accepts for its limits, in seconds.
const LONGEST: u64 = 31_536_000;

/// Connections that are kept for the next transaction; as many as were ever used at once.
pub(super) struct Connections {
    options: Opts,
    idle: Mutex<Vec<Desk>>,
}

impl Connections {
    pub(super) fn new(options: Opts) -> Self {
        Self { options, idle: Mutex::default() }
    }

    fn rested(&self) -> Option<Desk> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// A connection on loan: closed, unless it is given back.
pub(super) struct Lent {
    connections: Arc<Connections>,
    desk: Desk,
}

impl Lent {
    /// A connection on which a session that stands still in a transaction ends after about `ttl`, and a wait for
    /// a lock too. Setting these limits also shows whether a connection that has rested is still good.
    pub(super) async fn open(
        connections: &Arc<Connections>,
        action: &'static str,
        ttl: Duration,
    ) -> Result<Self, FenceError> {
        let seconds = ttl.as_millis().div_ceil(1000);
        let seconds = u64::try_from(seconds).unwrap_or(LONGEST).clamp(1, LONGEST);
        let limits = format!(
            "SET SESSION wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}, autocommit = 1"
        );
        while let Some(desk) = connections.rested() {
            if desk.ask(limits.clone(), ()).await.is_ok() {
                return Ok(Self { connections: Arc::clone(connections), desk });
            }
        }
        let opened = Desk::open(&connections.options, &[&limits]).await;
        let desk = opened.map_err(|error| failure(action, error))?;
        Ok(Self { connections: Arc::clone(connections), desk })
    }

    pub(super) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The number that `statement` finds for `key`: `None` without a row, `Some(None)` for `NULL`.
    pub(super) async fn stored(
        &self,
        statement: impl Into<std::borrow::Cow<'static, str>>,
        key: impl ToValue,
    ) -> Result<Option<Option<i64>>, Error> {
        let answer = self.desk.ask(statement, (key.to_value(),)).await?;
        Ok(answer.rows.first().map(|row| row.get::<Option<i64>, _>(0).flatten()))
    }

    pub(super) fn give_back(self) {
        self.connections.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.desk);
    }
}
