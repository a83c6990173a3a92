use anyhow::Result;
use deadpool_redis::Pool;
use deadpool_redis::redis::{Script, cmd};

pub const TTL_SECS: u64 = 60;

#[derive(Clone)]
pub struct RegionLock {
    pool: Pool,
    key: String,
    owner: String,
}

impl RegionLock {
    pub fn new(pool: Pool, region: &str) -> Self {
        Self {
            pool,
            key: format!("tiles:{region}:lock"),
            owner: nanoid::nanoid!(),
        }
    }

    pub async fn acquire(&self) -> Result<bool> {
        let mut conn = self.pool.get().await?;
        let reply: Option<String> = cmd("SET")
            .arg(&self.key)
            .arg(&self.owner)
            .arg("EX")
            .arg(TTL_SECS)
            .arg("NX")
            .query_async(&mut conn)
            .await?;
        Ok(reply.as_deref() == Some("OK"))
    }

    pub async fn release(&self) -> Result<bool> {
        let mut conn = self.pool.get().await?;
        let gone: i64 = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        )
        .key(&self.key)
        .arg(&self.owner)
        .invoke_async(&mut conn)
        .await?;
        Ok(gone == 1)
    }

    /// Starts a new period of `TTL_SECS`.
    pub async fn renew(&self) -> Result<bool> {
        if !self.release().await? {
            return Ok(false);
        }
        self.acquire().await
    }
}
