use bb8::Pool;
use bb8_redis::redis::{AsyncCommands, Script};
use bb8_redis::RedisConnectionManager;

pub const FORGET_IF: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

#[derive(Clone)]
pub struct Cache {
    pool: Pool<RedisConnectionManager>,
}

impl Cache {
    pub fn new(pool: Pool<RedisConnectionManager>) -> Self {
        Self { pool }
    }

    pub async fn put_absent(&self, key: &str, value: &str) -> anyhow::Result<bool> {
        let mut c = self.pool.get().await?;
        Ok(c.set_nx(key, value).await?)
    }

    pub async fn live_for(&self, key: &str, seconds: i64) -> anyhow::Result<()> {
        let mut c = self.pool.get().await?;
        let _: bool = c.expire(key, seconds).await?;
        Ok(())
    }

    pub async fn forget_if(&self, key: &str, value: &str) -> anyhow::Result<bool> {
        let mut c = self.pool.get().await?;
        let n: i64 = Script::new(FORGET_IF).key(key).arg(value).invoke_async(&mut *c).await?;
        Ok(n == 1)
    }
}
