use deadpool_redis::redis::AsyncCommands;
use deadpool_redis::Pool;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, PartialEq)]
pub struct Profile {
    pub id: u64,
    pub owner: String,
    pub locked: bool,
}

pub struct Profiles {
    pool: Pool,
}

impl Profiles {
    /// Throws the cached copy away if it differs from what the database says.
    pub async fn reconcile(&self, truth: &Profile) -> anyhow::Result<bool> {
        let key = format!("profile:{}", truth.id);
        let mut conn = self.pool.get().await?;
        let cached: Option<String> = conn.get(&key).await?;
        let Some(cached) = cached else {
            return Ok(false);
        };
        let cached: Profile = serde_json::from_str(&cached)?;
        if cached != *truth {
            let _: u64 = conn.del(&key).await?;
            return Ok(true);
        }
        let _: bool = conn.expire(&key, 900).await?;
        Ok(false)
    }
}
