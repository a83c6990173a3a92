use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::Pool;

pub struct Limiter {
    pool: Pool,
    per_minute: u64,
}

impl Limiter {
    pub async fn allow(&self, caller: &str) -> anyhow::Result<bool> {
        let key = format!("limit:{caller}");
        let mut conn = self.pool.get().await?;
        let (count,): (u64,) = redis::pipe()
            .atomic()
            .incr(&key, 1)
            .cmd("EXPIRE")
            .arg(&key)
            .arg(60)
            .arg("NX")
            .ignore()
            .query_async(&mut conn)
            .await?;
        Ok(count <= self.per_minute)
    }

    /// At most one alarm mail in ten minutes, whoever sends it.
    pub async fn may_alarm(&self, kind: &str) -> anyhow::Result<bool> {
        let mut conn = self.pool.get().await?;
        let fresh: Option<String> = redis::cmd("SET")
            .arg(format!("alarm:{kind}"))
            .arg("sent")
            .arg("NX")
            .arg("EX")
            .arg(600)
            .query_async(&mut conn)
            .await?;
        if fresh.is_none() {
            tracing::debug!(kind, "alarm was sent not long ago");
        }
        Ok(fresh.is_some())
    }

    pub async fn reset(&self, caller: &str) -> anyhow::Result<()> {
        let mut conn = self.pool.get().await?;
        let _: u64 = conn.del(format!("limit:{caller}")).await?;
        Ok(())
    }
}
