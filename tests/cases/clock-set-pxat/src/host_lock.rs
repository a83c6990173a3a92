use std::time::Duration;

use redis::Script;
use redis::aio::MultiplexedConnection;
use uuid::Uuid;

use crate::epoch::millis_in;

const TTL: Duration = Duration::from_secs(12);

const RENEW: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0";

const RELEASE: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0";

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("host lock {0} lost")]
    Lost(String),
}

pub struct HostLock {
    redis: MultiplexedConnection,
    key: String,
    me: String,
}

impl HostLock {
    pub async fn acquire(
        mut redis: MultiplexedConnection,
        host: &str,
    ) -> Result<Option<Self>, LockError> {
        let key = format!("crawl:{host}:owner");
        let me = Uuid::new_v4().to_string();
        let reply: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(&me)
            .arg("NX")
            .arg("PXAT")
            .arg(millis_in(TTL))
            .query_async(&mut redis)
            .await?;
        Ok(reply.is_some().then_some(Self { redis, key, me }))
    }

    /// Keeps the lock, comes back when that is no longer possible.
    pub async fn lost(&self) -> LockError {
        let mut before = None;
        loop {
            tokio::time::sleep(TTL / 3).await;
            let n: redis::RedisResult<i64> = Script::new(RENEW)
                .key(&self.key)
                .arg(&self.me)
                .arg(TTL.as_millis() as u64)
                .invoke_async(&mut self.redis.clone())
                .await;
            match (n, before.take()) {
                (Ok(1), _) => {}
                (Ok(_), _) => return LockError::Lost(self.key.clone()),
                (Err(e), None) => before = Some(e),
                (Err(e), Some(_)) => return e.into(),
            }
        }
    }

    pub async fn release(&self) -> Result<bool, LockError> {
        let n: i64 = Script::new(RELEASE)
            .key(&self.key)
            .arg(&self.me)
            .invoke_async(&mut self.redis.clone())
            .await?;
        Ok(n == 1)
    }
}
