use std::future::Future;

use uuid::Uuid;

use crate::Store;

const TURN_MS: u64 = 15_000;

/// In a talk only one member has the floor, on whichever node he is connected.
pub struct Floor<S> {
    store: S,
    talk: String,
}

impl<S: Store> Floor<S> {
    pub fn new(store: S, talk: &str) -> Self {
        Self {
            store,
            talk: format!("talk:{talk}:floor-lock"),
        }
    }

    async fn take(&self) -> anyhow::Result<bool> {
        let turn = Uuid::new_v4().to_string();
        self.store.put_new(&self.talk, &turn, TURN_MS).await
    }

    async fn yield_floor(&self) -> anyhow::Result<()> {
        self.store.remove(&self.talk).await
    }

    /// None when another member speaks.
    pub async fn speak<F, T>(&self, f: impl FnOnce() -> F) -> anyhow::Result<Option<T>>
    where
        F: Future<Output = T>,
    {
        if !self.take().await? {
            return Ok(None);
        }
        let said = f().await;
        self.yield_floor().await?;
        Ok(Some(said))
    }
}
