use redis::Script;
use redis::aio::ConnectionManager;

const KEY: &str = "price-sync/lock";
const EXTEND: &str = "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('expire', KEYS[1], ARGV[2])";
const RELEASE: &str =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('del', KEYS[1])";

#[derive(Clone)]
pub struct Lock {
    redis: ConnectionManager,
    id: String,
    ttl_secs: u64,
}

impl Lock {
    pub async fn take(mut redis: ConnectionManager, ttl_secs: u64) -> anyhow::Result<Option<Self>> {
        let id = uuid::Uuid::new_v4().to_string();
        let r: Option<String> = redis::cmd("SET")
            .arg(KEY)
            .arg(&id)
            .arg("NX")
            .arg("EX")
            .arg(ttl_secs)
            .query_async(&mut redis)
            .await?;
        Ok(r.map(|_| Lock {
            redis,
            id,
            ttl_secs,
        }))
    }

    pub async fn extend(&self) -> anyhow::Result<bool> {
        let n: i64 = Script::new(EXTEND)
            .key(KEY)
            .arg(&self.id)
            .arg(self.ttl_secs)
            .invoke_async(&mut self.redis.clone())
            .await?;
        Ok(n == 1)
    }

    pub async fn release(&self) -> anyhow::Result<bool> {
        let n: i64 = Script::new(RELEASE)
            .key(KEY)
            .arg(&self.id)
            .invoke_async(&mut self.redis.clone())
            .await?;
        Ok(n == 1)
    }
}
