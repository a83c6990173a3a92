use std::collections::HashMap;
use std::sync::Arc;

use redis::aio::ConnectionManager;
use redis::AsyncCommands;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell, Semaphore};

#[derive(Clone, Serialize, Deserialize)]
pub struct PriceList {
    pub etag: String,
    pub prices: HashMap<String, u64>,
}

/// Loads price lists from a slow supplier, and no list twice at the same time.
pub struct Prices {
    redis: ConnectionManager,
    loading: Mutex<HashMap<String, Arc<OnceCell<PriceList>>>>,
    at_once: Semaphore,
}

impl Prices {
    async fn cached(&self, supplier: &str) -> anyhow::Result<Option<PriceList>> {
        let mut c = self.redis.clone();
        let key = format!("prices:{supplier}");
        if !c.exists::<_, bool>(&key).await? {
            return Ok(None);
        }
        let text: Option<String> = c.get(&key).await?;
        Ok(text.map(|t| serde_json::from_str(&t)).transpose()?)
    }

    async fn load(&self, supplier: &str) -> anyhow::Result<PriceList> {
        if let Some(list) = self.cached(supplier).await? {
            return Ok(list);
        }
        let _permit = self.at_once.acquire().await?;
        let list = fetch(supplier).await?;
        let mut c = self.redis.clone();
        let _: () = c.set_ex(format!("prices:{supplier}"), serde_json::to_string(&list)?, 600).await?;
        Ok(list)
    }

    pub async fn of(&self, supplier: &str) -> anyhow::Result<PriceList> {
        let cell = {
            let mut loading = self.loading.lock().await;
            loading.entry(supplier.to_owned()).or_default().clone()
        };
        let list = cell.get_or_try_init(|| self.load(supplier)).await?.clone();
        self.loading.lock().await.remove(supplier);
        Ok(list)
    }

    /// Drops the list if it is still the one with this tag.
    pub async fn outdated(&self, supplier: &str, etag: &str) -> anyhow::Result<()> {
        if self.cached(supplier).await?.is_some_and(|l| l.etag == etag) {
            let _: () = self.redis.clone().del(format!("prices:{supplier}")).await?;
        }
        Ok(())
    }
}

async fn fetch(supplier: &str) -> anyhow::Result<PriceList> {
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    Ok(PriceList {
        etag: format!("W/{supplier}"),
        prices: HashMap::new(),
    })
}
