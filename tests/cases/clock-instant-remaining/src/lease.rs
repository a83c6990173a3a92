use std::time::{Duration, Instant};

use anyhow::Result;
use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, Script, SetExpiry, SetOptions};
use uuid::Uuid;

const KEY: &str = "tariffs:calc";
const TTL: Duration = Duration::from_secs(300);
const MARGIN: Duration = Duration::from_secs(5);

pub struct Lease {
    redis: ConnectionManager,
    owner: String,
    ends: Instant,
}

impl Lease {
    pub async fn take(mut redis: ConnectionManager) -> Result<Option<Lease>> {
        let owner = Uuid::new_v4().to_string();
        let ends = Instant::now() + (TTL - MARGIN);
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(TTL.as_millis() as u64));
        let won: Option<String> = redis.set_options(KEY, &owner, opts).await?;
        Ok(won.map(|_| Lease { redis, owner, ends }))
    }

    /// How long the lease is certainly ours.
    pub fn remaining(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    pub async fn give_back(mut self) -> Result<bool> {
        let n: i64 = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
        )
        .key(KEY)
        .arg(&self.owner)
        .invoke_async(&mut self.redis)
        .await?;
        Ok(n == 1)
    }
}
