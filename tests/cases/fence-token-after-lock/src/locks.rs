use bb8_redis::redis::{self, AsyncCommands, Script};
use bb8_redis::RedisConnectionManager;
use uuid::Uuid;

const TTL_MS: u64 = 12_000;

pub struct SkuLocks {
    pool: bb8::Pool<RedisConnectionManager>,
    unlock: Script,
}

pub struct SkuLock {
    key: String,
    owner: String,
    pub token: i64,
}

impl SkuLocks {
    pub fn new(pool: bb8::Pool<RedisConnectionManager>) -> Self {
        let unlock = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        );
        SkuLocks { pool, unlock }
    }

    pub async fn lock(&self, sku: &str) -> anyhow::Result<Option<SkuLock>> {
        let key = format!("stock:{sku}:lock");
        let owner = Uuid::new_v4().to_string();
        let mut conn = self.pool.get().await?;
        let won: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(&owner)
            .arg("PX")
            .arg(TTL_MS)
            .arg("NX")
            .query_async(&mut *conn)
            .await?;
        if won.is_none() {
            return Ok(None);
        }
        // every holder gets a higher number than the one before
        let token: i64 = conn.incr(format!("stock:{sku}:fence"), 1).await?;
        Ok(Some(SkuLock { key, owner, token }))
    }

    pub async fn unlock(&self, lock: SkuLock) -> anyhow::Result<bool> {
        let mut conn = self.pool.get().await?;
        let n: i64 = self
            .unlock
            .key(lock.key)
            .arg(lock.owner)
            .invoke_async(&mut *conn)
            .await?;
        Ok(n == 1)
    }
}
