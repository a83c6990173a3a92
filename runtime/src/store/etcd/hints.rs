//! Hints from etcd: a connection that is told which keys of the namespace were deleted, by a release or because
//! their lease ended.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;
use tracing::debug;

use super::failure::{unintelligible, unreachable};
use super::wire::{Events, Watched, read_message};
use crate::key::LeaseKey;
use crate::store::{StoreError, Waiters, Watch};

const ACTION: &str = "listening for releases";

/// Many deletions can come in one line; what is longer ends the listening.
const LONGEST_LINE: usize = 4 << 20;

#[derive(Default)]
pub(super) struct Hints {
    waiters: Arc<Waiters>,
    /// Ends with the store.
    listener: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Hints {
    /// Whether somebody waits for `key` with our hints.
    pub(super) fn are_wanted(&self, key: &LeaseKey) -> bool {
        self.waiters.has(key)
    }

    /// Begins to listen for the deletion of `key`, whose names in etcd begin with `prefix`. Opens the stream of
    /// deletions if there is none.
    pub(super) async fn listen<F>(
        &self,
        key: &LeaseKey,
        prefix: &str,
        open: impl FnOnce() -> F,
    ) -> Result<Watch, StoreError>
    where
        F: Future<Output = Result<Incoming, StoreError>>,
    {
        let mut listener = self.listener.lock().await;
        if listener.as_ref().is_none_or(AbortOnDropHandle::is_finished) {
            let mut stream = Lines { body: open().await?, unread: Vec::new() };
            // Only when the server has said so are deletions seen.
            while !next(&mut stream).await?.created {}
            let (waiters, prefix) = (Arc::clone(&self.waiters), prefix.to_owned());
            *listener = Some(AbortOnDropHandle::new(tokio::spawn(async move {
                let ended = pass_on(&mut stream, &waiters, &prefix).await;
                debug!(%ended, "hints end");
                waiters.dismiss();
            })));
        }
        Ok(self.waiters.join(key))
    }
}

/// Runs until the stream ends, and says why it did.
async fn pass_on(stream: &mut Lines, waiters: &Waiters, prefix: &str) -> StoreError {
    loop {
        let events = match next(stream).await {
            Ok(events) => events.events,
            Err(error) => return error,
        };
        for event in events {
            let name = event.kv.key.0;
            let key = std::str::from_utf8(&name).ok().and_then(|name| name.strip_prefix(prefix));
            if let Some(Ok(key)) = key.map(LeaseKey::new) {
                waiters.wake(&key);
            }
        }
    }
}

/// The next message; an error when there will be none.
async fn next(stream: &mut Lines) -> Result<Events, StoreError> {
    let line = stream.next().await?;
    let message: Watched = read_message(&line).map_err(|error| unintelligible(ACTION, error))?;
    match message {
        Watched { error: Some(complaint), .. } => Err(unreachable(ACTION, complaint.message.into())),
        Watched { result: Some(events), .. } if !events.canceled => Ok(events),
        Watched { .. } => Err(unreachable(ACTION, "the server has ended the stream".into())),
    }
}

/// An answer that comes line by line.
struct Lines {
    body: Incoming,
    unread: Vec<u8>,
}

impl Lines {
    async fn next(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut searched = 0;
        loop {
            let end = self.unread.iter().skip(searched).position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let rest = self.unread.split_off(searched + end + 1);
                return Ok(std::mem::replace(&mut self.unread, rest));
            }
            searched = self.unread.len();
            if searched > LONGEST_LINE {
                return Err(unintelligible(ACTION, "a line without end"));
            }
            let frame = self.body.frame().await;
            let frame = frame.ok_or_else(|| unreachable(ACTION, "the stream has ended".into()))?;
            let frame = frame.map_err(|error| unreachable(ACTION, error.into()))?;
            if let Some(bytes) = frame.data_ref() {
                self.unread.extend_from_slice(bytes);
            }
        }
    }
}
