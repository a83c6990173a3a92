use async_trait::async_trait;
use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::Pool;

/// Remembers what has been seen. Several backends; this one is shared.
#[async_trait]
pub trait Memory: Send + Sync {
    /// True the first time a name is seen within `seconds`.
    async fn first_time(&self, name: &str, seconds: u64) -> anyhow::Result<bool>;
    async fn forget(&self, name: &str) -> anyhow::Result<()>;
}

pub struct SharedMemory {
    pub pool: Pool,
}

#[async_trait]
impl Memory for SharedMemory {
    async fn first_time(&self, name: &str, seconds: u64) -> anyhow::Result<bool> {
        let mut conn = self.pool.get().await?;
        let reply: Option<String> = redis::cmd("SET")
            .arg(format!("seen:{name}"))
            .arg(1)
            .arg("EX")
            .arg(seconds)
            .arg("NX")
            .query_async(&mut conn)
            .await?;
        Ok(reply.is_some())
    }

    async fn forget(&self, name: &str) -> anyhow::Result<()> {
        let mut conn = self.pool.get().await?;
        let _: u64 = conn.del(format!("seen:{name}")).await?;
        Ok(())
    }
}
