//! One connection that is shared, and made anew when it is broken or no longer trusted. Does not retry: each
//! request decides for itself, within the limit that the core gave it.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use crate::clock::{BootClock, Clock};

/// A connection that is opened when it is needed. `C` is a handle that can be cloned and used at the same time.
#[derive(Debug)]
pub(crate) struct Link<C> {
    /// The connection, and which generation it belongs to.
    slot: Mutex<Option<(u64, C)>>,
    /// The generation that is wanted; a connection of an earlier one is not used any more.
    wanted: AtomicU64,
    /// When the present connection came about, in the boot clock's nanoseconds.
    made: AtomicU64,
}

/// A use of the connection.
pub(crate) struct Lent<C> {
    pub(crate) connection: C,
    generation: u64,
}

impl<C: Clone> Link<C> {
    pub(crate) fn new() -> Self {
        Self { slot: Mutex::new(None), wanted: AtomicU64::new(0), made: AtomicU64::new(0) }
    }

    /// The present connection, or a new one. Cancel-safe: a dropped `open` leaves no connection, and the next
    /// call opens one.
    pub(crate) async fn get<E, F>(&self, open: impl FnOnce() -> F) -> Result<Lent<C>, E>
    where
        F: Future<Output = Result<C, E>>,
    {
        let mut slot = self.slot.lock().await;
        let generation = self.wanted.load(Ordering::Acquire);
        if let Some((made_for, connection)) = &*slot
            && *made_for == generation
        {
            return Ok(Lent { connection: connection.clone(), generation });
        }
        *slot = None;
        let connection = open().await?;
        self.made.store(BootClock.now().as_nanoseconds(), Ordering::Release);
        *slot = Some((generation, connection.clone()));
        Ok(Lent { connection, generation })
    }

    /// What was lent is broken. Says nothing about a newer connection.
    pub(crate) fn broken(&self, lent: &Lent<C>) {
        // Failing means that somebody else has said so before.
        let _said = self.wanted.compare_exchange(
            lent.generation,
            lent.generation + 1,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
    }

    /// Whatever there is, is not trusted any more, unless it is young.
    #[cfg(any(feature = "redis", feature = "postgres", feature = "mysql"))]
    pub(crate) fn reset(&self) {
        /// A connection so young has just been answered. That a request has no answer on it yet says that there was
        /// too little time left after connecting; whoever gave it up for that would connect for ever.
        const YOUNG: std::time::Duration = std::time::Duration::from_millis(100);
        let made = crate::clock::Moment::from_nanoseconds(self.made.load(Ordering::Acquire));
        if BootClock.now().since(made) < YOUNG {
            return;
        }
        self.wanted.fetch_add(1, Ordering::AcqRel);
    }
}
