//! Hints that a key may be free. A hint is a wake-up, never a fact.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use tokio::sync::mpsc;

use crate::key::LeaseKey;

/// Hints for one key, made by [`LeaseStore::watch`](super::LeaseStore::watch). Dropping it ends the listening.
#[derive(Debug)]
pub struct Watch(Vec<mpsc::Receiver<()>>);

/// The store's end of a [`Watch`].
#[derive(Debug, Clone)]
pub struct WatchSender(mpsc::Sender<()>);

impl Watch {
    /// A watch and the end by which the store wakes it.
    #[must_use]
    pub fn channel() -> (WatchSender, Self) {
        // One place is enough: a second hint before the first was seen says nothing new.
        let (sender, receiver) = mpsc::channel(1);
        (WatchSender(sender), Self(vec![receiver]))
    }

    /// A watch that never hints.
    #[must_use]
    pub fn silent() -> Self {
        Self(Vec::new())
    }

    /// A watch that hints when any of these does.
    #[must_use]
    pub fn any_of(watches: impl IntoIterator<Item = Self>) -> Self {
        Self(watches.into_iter().flat_map(|watch| watch.0).collect())
    }

    /// Waits for a hint; for ever when there will be none. Cancel-safe: a hint is not lost when this is dropped
    /// before it was ready.
    pub async fn hint(&mut self) {
        std::future::poll_fn(|context| {
            let mut hinted = false;
            self.0.retain_mut(|receiver| match receiver.poll_recv(context) {
                // Several hints at once are one.
                Poll::Ready(Some(())) => {
                    hinted = true;
                    true
                }
                // The store has stopped listening here; the waiter's own timer goes on.
                Poll::Ready(None) => false,
                Poll::Pending => true,
            });
            if hinted { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl WatchSender {
    /// Wakes the waiter.
    ///
    /// Returns `false` when nobody listens any more, so that the store can forget this end.
    pub fn wake(&self) -> bool {
        !matches!(self.0.try_send(()), Err(mpsc::error::TrySendError::Closed(())))
    }

    /// Whether nobody listens any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// Who waits for which key: what a store needs to pass on hints.
#[derive(Debug, Default)]
pub struct Waiters(Mutex<HashMap<LeaseKey, Vec<WatchSender>>>);

impl Waiters {
    /// Begins to wait for hints about `key`.
    #[must_use]
    pub fn join(&self, key: &LeaseKey) -> Watch {
        let (sender, watch) = Watch::channel();
        let mut waiting = self.waiting();
        // Those who have gone are forgotten when others come: the map stays as large as the crowd.
        waiting.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.is_closed());
            !waiters.is_empty()
        });
        waiting.entry(key.clone()).or_default().push(sender);
        watch
    }

    /// Passes a hint on to all who wait for `key`.
    pub fn wake(&self, key: &LeaseKey) {
        if let Some(waiters) = self.waiting().get_mut(key) {
            waiters.retain(WatchSender::wake);
        }
    }

    /// Whether somebody waits for `key`.
    #[must_use]
    pub fn has(&self, key: &LeaseKey) -> bool {
        self.waiting().get(key).is_some_and(|waiters| waiters.iter().any(|waiter| !waiter.is_closed()))
    }

    /// There will be no more hints for `key`: whoever waits for it waits without.
    #[cfg(feature = "consul")]
    pub(crate) fn forget(&self, key: &LeaseKey) {
        self.waiting().remove(key);
    }

    /// The source of hints has dried up: everybody waits without.
    pub fn dismiss(&self) {
        self.waiting().clear();
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<LeaseKey, Vec<WatchSender>>> {
        // No step can panic half way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn any_of_several_hints() {
        let ((first, one), (second, two)) = (Watch::channel(), Watch::channel());
        let mut watch = Watch::any_of([one, two, Watch::silent()]);
        assert!(poll!(pin!(watch.hint())).is_pending());
        assert!(second.wake());
        assert!(poll!(pin!(watch.hint())).is_ready());
        assert!(first.wake() && second.wake());
        assert!(poll!(pin!(watch.hint())).is_ready(), "two at once");
        assert!(poll!(pin!(watch.hint())).is_pending(), "are one");
        drop(second);
        assert!(poll!(pin!(watch.hint())).is_pending());
        assert!(first.wake());
        assert!(poll!(pin!(watch.hint())).is_ready());
        drop(first);
        assert!(poll!(pin!(watch.hint())).is_pending(), "nobody will hint any more");
        drop(watch);
        let (sender, watch) = Watch::channel();
        drop(watch);
        assert!(!sender.wake() && sender.is_closed());
    }
}
