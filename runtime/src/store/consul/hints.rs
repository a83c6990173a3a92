//! Hints from Consul: for each key for which somebody waits, a query that is answered when the key has changed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;
use tracing::debug;

use super::Shared;
use crate::key::LeaseKey;
use crate::store::{StoreError, Waiters, Watch};

/// How long a query stays open without news.
const OPEN: Duration = Duration::from_secs(60);

/// How often it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_secs(1);

/// Between two queries about a key that nobody holds: then each change of any key is news.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(super) struct Hints {
    waiters: Arc<Waiters>,
    /// Those who ask, by key. They end with the store.
    asking: Mutex<HashMap<LeaseKey, Asking>>,
}

/// The one who asks about a key.
struct Asking {
    task: AbortOnDropHandle<()>,
    /// A waiter has come who saw the key held, also if it was not at the last query: what is not held at the next one
    /// has been freed since.
    seen_held: Arc<AtomicBool>,
}

/// What a query found.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    /// Where the next query begins.
    pub(super) index: u64,
    pub(super) held: bool,
}

impl Hints {
    /// Whether somebody waits for `key` with our hints.
    pub(super) fn are_wanted(&self, key: &LeaseKey) -> bool {
        self.waiters.has(key)
    }

    /// Begins to listen for the end of whatever grant of `key` there is.
    pub(super) async fn listen(&self, shared: &Arc<Shared>, key: &LeaseKey) -> Result<Watch, StoreError> {
        // From here on changes are news.
        let first = shared.news(key, None).await?;
        let watch = self.waiters.join(key);
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.retain(|_, one| !one.task.is_finished());
        let asked_by = asking.entry(key.clone()).or_insert_with(|| {
            let (waiters, seen_held) = (Arc::clone(&self.waiters), Arc::new(AtomicBool::new(false)));
            let seen = Arc::clone(&seen_held);
            // Not the store itself: it must end when nobody else has it.
            let (shared, key) = (Arc::downgrade(shared), key.clone());
            let asked = async move {
                let mut news = first;
                loop {
                    let Some(shared) = shared.upgrade() else { return };
                    if shared.hints.nobody_waits(&key) {
                        return;
                    }
                    match shared.next_news(&key, news).await {
                        Ok(Some(next)) => {
                            if !next.held && (seen.swap(false, Ordering::AcqRel) || news.held) {
                                waiters.wake(&key);
                            }
                            news = next;
                        }
                        Ok(None) => {}
                        Err(error) => {
                            debug!(%key, %error, "hints end");
                            waiters.forget(&key);
                        }
                    }
                }
            };
            Asking { task: AbortOnDropHandle::new(tokio::spawn(asked)), seen_held }
        });
        if first.held {
            asked_by.seen_held.store(true, Ordering::Release);
        }
        Ok(watch)
    }

    /// Whether the asking about `key` can end; a waiter who comes later finds nobody who asks, and begins anew.
    fn nobody_waits(&self, key: &LeaseKey) -> bool {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let nobody = !self.waiters.has(key);
        if nobody {
            asking.remove(key);
        }
        nobody
    }
}

impl Shared {
    /// The next news; none when nobody waits any more.
    async fn next_news(&self, key: &LeaseKey, last: News) -> Result<Option<News>, StoreError> {
        if !last.held {
            tokio::time::sleep(PAUSE).await;
        }
        let mut query = std::pin::pin!(self.news(key, Some((last.index, OPEN))));
        loop {
            tokio::select! {
                news = &mut query => {
                    let news = news?;
                    // After a restore it may go back; then all is news again.
                    let index = if news.index < last.index { 0 } else { news.index };
                    return Ok(Some(News { index, ..news }));
                }
                () = tokio::time::sleep(LOOK) => if !self.hints.are_wanted(key) {
                    return Ok(None);
                },
            }
        }
    }
}
