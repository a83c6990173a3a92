//! Leader election: a lease under another name. Who holds the lease of the election leads, for one term, whose
//! number is the fencing token.

use std::ops::Deref;
use std::time::Duration;

use tokio::time::sleep;

use crate::key::{KeyError, LeaseKey};
use crate::lease::{Lease, ReleaseOutcome};
use crate::leases::{AcquireError, Leases};
use crate::renewal::within;
use crate::store::{StoreError, Watch};
use crate::tenure::Tenure;
use crate::token::OwnerValue;

/// An election among all processes that name the same key of the same store.
#[derive(Debug, Clone)]
pub struct Election {
    leases: Leases,
    key: LeaseKey,
}

impl Election {
    /// An election for `key`.
    ///
    /// # Errors
    /// [`KeyError`] when the text cannot name a lease.
    pub fn new(
        leases: &Leases,
        key: impl TryInto<LeaseKey, Error: Into<KeyError>>,
    ) -> Result<Self, KeyError> {
        Ok(Self { leases: leases.clone(), key: key.try_into().map_err(Into::into)? })
    }

    /// Stands for election, and waits until it is won. Cancel-safe.
    ///
    /// # Errors
    /// As [`Leases::acquire`].
    pub async fn campaign(&self) -> Result<Leadership, AcquireError> {
        self.leases.acquire(&self.key).await.map(Leadership)
    }

    /// Watches who leads, without standing for election. The first answer comes at once.
    #[must_use]
    pub fn observe(&self) -> Observation {
        Observation { election: self.clone(), last: None, watch: None }
    }
}

/// A term as leader. Dereferences to [`Tenure`]: what the leader does must watch its cancellation, and write with
/// its token. Dropping it resigns, as with [`Lease`].
#[must_use = "a leadership that is dropped is given up"]
#[derive(Debug)]
pub struct Leadership(Lease);

impl Leadership {
    /// Gives the leadership up, as [`Lease::release`] does; another candidate may win at once.
    pub async fn resign(self) -> ReleaseOutcome {
        self.0.release().await
    }
}

impl Deref for Leadership {
    type Target = Tenure;

    fn deref(&self) -> &Tenure {
        &self.0
    }
}

/// Sees changes of the leader. It tells what was so a moment ago; nothing may be written because of it.
#[derive(Debug)]
pub struct Observation {
    election: Election,
    /// What was told last; `None` when nothing was yet.
    last: Option<Option<OwnerValue>>,
    watch: Option<Watch>,
}

impl Observation {
    /// Waits until somebody else leads than was told last, and tells who: the [`owner`](Tenure::owner) value of
    /// the leader, or `None` while nobody leads. A term that began and ended between two looks goes unseen. Looks
    /// at each renewal interval, and when the store hints. Cancel-safe.
    ///
    /// # Errors
    /// [`StoreError`] when the store gave no answer; the next call asks again.
    pub async fn changed(&mut self) -> Result<Option<OwnerValue>, StoreError> {
        let (store, settings) = (self.election.leases.store(), self.election.leases.settings());
        let (limit, key) = (settings.attempt_timeout(), &self.election.key);
        loop {
            let leader = within(limit, "asking for the leader", store, store.holder(key)).await?;
            if self.last != Some(leader) {
                self.last = Some(leader);
                return Ok(leader);
            }
            if self.watch.is_none() {
                // Without hints the pauses are the same; the next look says whether something was missed.
                let watch = within(limit, "listening for releases", store, store.watch(key)).await;
                self.watch = Some(watch.unwrap_or_else(|_| Watch::silent()));
                continue;
            }
            pause(self.watch.as_mut(), settings.renew_every()).await;
        }
    }
}

async fn pause(watch: Option<&mut Watch>, most: Duration) {
    match watch {
        Some(watch) => tokio::select! {
            () = watch.hint() => {}
            () = sleep(most) => {}
        },
        None => sleep(most).await,
    }
}
