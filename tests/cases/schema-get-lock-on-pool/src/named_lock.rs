use std::time::Duration;

use async_trait::async_trait;
use sqlx::MySqlPool;

#[async_trait]
pub trait NamedLock: Send + Sync {
    /// Waits up to `patience` for the lock.
    async fn lock(&self, name: &str, patience: Duration) -> anyhow::Result<bool>;
    async fn unlock(&self, name: &str) -> anyhow::Result<()>;
}

pub struct MySqlNamedLock {
    pool: MySqlPool,
}

impl MySqlNamedLock {
    pub fn new(pool: MySqlPool) -> Self {
        MySqlNamedLock { pool }
    }
}

#[async_trait]
impl NamedLock for MySqlNamedLock {
    async fn lock(&self, name: &str, patience: Duration) -> anyhow::Result<bool> {
        let got: Option<i64> = sqlx::query_scalar("SELECT GET_LOCK(?, ?)")
            .bind(name)
            .bind(patience.as_secs())
            .fetch_one(&self.pool)
            .await?;
        Ok(got == Some(1))
    }

    async fn unlock(&self, name: &str) -> anyhow::Result<()> {
        let freed: Option<i64> = sqlx::query_scalar("SELECT RELEASE_LOCK(?)")
            .bind(name)
            .fetch_one(&self.pool)
            .await?;
        anyhow::ensure!(freed == Some(1), "lock {name} was not ours");
        Ok(())
    }
}
