use uuid::Uuid;

use crate::cache::Cache;

const CROSSING_SECONDS: i64 = 40;

/// The planner of a crossing; there must not be two.
pub struct Crossing {
    cache: Cache,
    key: String,
    captain: String,
}

impl Crossing {
    pub async fn begin(cache: &Cache, ferry: &str) -> anyhow::Result<Option<Crossing>> {
        let key = format!("ferry:{ferry}:crossing");
        let captain = Uuid::new_v4().to_string();
        if !cache.put_absent(&key, &captain).await? {
            return Ok(None);
        }
        cache.live_for(&key, CROSSING_SECONDS).await?;
        Ok(Some(Crossing {
            cache: cache.clone(),
            key,
            captain,
        }))
    }

    pub async fn end(self) -> anyhow::Result<bool> {
        self.cache.forget_if(&self.key, &self.captain).await
    }
}
