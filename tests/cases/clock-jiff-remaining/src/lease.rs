use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, Script, SetExpiry, SetOptions};
use uuid::Uuid;

const KEY: &str = "tariffs:calc";
const TTL: Duration = Duration::from_secs(300);
const MARGIN: Duration = Duration::from_secs(5);

pub struct Lease {
    redis: ConnectionManager,
    owner: String,
    ends: Timestamp,
}

impl Lease {
    pub async fn take(mut redis: ConnectionManager) -> Result<Option<Lease>> {
        let owner = Uuid::new_v4().to_string();
        let ends = Timestamp::now() + (TTL - MARGIN);
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(TTL.as_millis() as u64));
        let won: Option<String> = redis.set_options(KEY, &owner, opts).await?;
        Ok(won.map(|_| Lease { redis, owner, ends }))
    }

    /// How long the lease is certainly ours.
    pub fn remaining(&self) -> Duration {
        let left: SignedDuration = self.ends.duration_since(Timestamp::now());
        Duration::try_from(left).unwrap_or_default()
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
