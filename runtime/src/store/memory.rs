//! Leases inside one process: for tests, and for work that only one process does. Survives nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
    Waiters, Watch,
};
use crate::clock::{BootClock, Clock, Moment};
use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

/// A store inside the process. Clones are the same store.
///
/// Its tokens begin at 1 with each process, so they fence only storage that ends with the process too; beside a
/// database, use a store that remembers.
#[derive(Clone)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
    waiters: Arc<Waiters>,
}

#[derive(Default)]
struct State {
    /// One counter for all keys, so that ended grants need not be remembered.
    last_token: u64,
    grants: HashMap<LeaseKey, Entry>,
}

struct Entry {
    owner: OwnerValue,
    ends: Moment,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(BootClock)
    }

    /// An empty store that judges expiry by `clock`; for tests.
    #[must_use]
    pub fn with_clock(clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), state: Arc::default(), waiters: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No step below can panic half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LeaseStore for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new("memory").tokens(TokenDurability::Process).with_hints()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        let mut state = self.state();
        let now = self.clock.now();
        if let Some(entry) = state.grants.get(&claim.key)
            && entry.ends > now
        {
            return Ok(Acquisition::Held { ends_within: Some(entry.ends.since(now)) });
        }
        let exhausted = || StoreError::TokensExhausted { store: self.capabilities().name() };
        let token = FencingToken::try_from(state.last_token + 1).map_err(|_| exhausted())?;
        state.last_token = token.as_u64();
        // Grants that nobody gave back would stay for ever.
        state.grants.retain(|_, entry| entry.ends > now);
        state.grants.insert(claim.key.clone(), Entry { owner: claim.owner, ends: now.after(claim.ttl) });
        Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }))
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        let now = self.clock.now();
        match self.state().grants.get_mut(&claim.key) {
            Some(entry) if entry.owner == claim.owner && entry.ends > now => {
                entry.ends = now.after(claim.ttl);
                Ok(Renewal::Renewed { ttl: claim.ttl })
            }
            _ => Ok(Renewal::NotMine),
        }
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let mut state = self.state();
        let now = self.clock.now();
        match state.grants.get(&claim.key) {
            Some(entry) if entry.owner == claim.owner && entry.ends > now => {
                state.grants.remove(&claim.key);
                self.waiters.wake(&claim.key);
                Ok(Surrender::Released)
            }
            _ => Ok(Surrender::NotMine),
        }
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        let now = self.clock.now();
        Ok(self.state().grants.get(key).filter(|entry| entry.ends > now).map(|entry| entry.owner))
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        Ok(self.waiters.join(key))
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}
