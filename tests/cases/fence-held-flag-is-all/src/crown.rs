use std::time::{Duration, Instant};

use redis::aio::ConnectionManager;
use redis::{RedisResult, Script};
use uuid::Uuid;

const TTL: Duration = Duration::from_secs(10);
const MARGIN: Duration = Duration::from_secs(1);
const ABDICATE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// The lease on a season.
pub struct Crown {
    redis: ConnectionManager,
    key: String,
    head: String,
    until: Instant,
}

impl Crown {
    pub async fn take(redis: &ConnectionManager, season: i32) -> RedisResult<Option<Crown>> {
        let (key, head) = (format!("season:{season}:crown"), Uuid::new_v4().to_string());
        let mut redis = redis.clone();
        let until = Instant::now() + TTL - MARGIN;
        let ok: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(&head)
            .arg("NX")
            .arg("PX")
            .arg(TTL.as_millis() as u64)
            .query_async(&mut redis)
            .await?;
        Ok(ok.map(|_| Crown { redis, key, head, until }))
    }

    pub fn is_held(&self) -> bool {
        Instant::now() < self.until
    }

    pub async fn abdicate(mut self) -> RedisResult<bool> {
        Script::new(ABDICATE)
            .key(&self.key)
            .arg(&self.head)
            .invoke_async(&mut self.redis)
            .await
    }
}
