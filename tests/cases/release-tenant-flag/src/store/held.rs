use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::Pool;
use ulid::Ulid;

use super::LockName;

/// A lock of this process, or the wish for one.
pub struct Held {
    pool: Pool,
    name: LockName,
    tag: String,
    acquired: bool,
}

impl Held {
    pub fn new(pool: Pool, name: LockName) -> Self {
        Self {
            pool,
            name,
            tag: Ulid::new().to_string(),
            acquired: false,
        }
    }

    pub async fn try_acquire(&mut self) -> eyre::Result<bool> {
        let mut conn = self.pool.get().await?;
        let reply: Option<String> = redis::cmd("SET")
            .arg(self.name.to_key())
            .arg(&self.tag)
            .arg("NX")
            .arg("PX")
            .arg(self.name.ttl_ms())
            .query_async(&mut conn)
            .await?;
        self.acquired = reply.as_deref() == Some("OK");
        Ok(self.acquired)
    }

    pub async fn release(&mut self) -> eyre::Result<()> {
        if !self.acquired {
            // never ours, nothing to give back
            return Ok(());
        }
        let mut conn = self.pool.get().await?;
        let _: i64 = conn.unlink(self.name.to_key()).await?;
        self.acquired = false;
        tracing::debug!(name = ?self.name, "released");
        Ok(())
    }
}
