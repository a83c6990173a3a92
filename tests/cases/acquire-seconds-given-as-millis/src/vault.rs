use redis::aio::ConnectionManager;
use redis::{cmd, RedisResult, Script};
use uuid::Uuid;

use crate::limits::VAULT_STAY_SECS;

pub struct Vault {
    redis: ConnectionManager,
}

pub struct Inside(String);

impl Vault {
    const LOCK: &'static str = "bank:vault:lock";

    pub fn new(redis: ConnectionManager) -> Self {
        Self { redis }
    }

    /// Alone, or not at all.
    pub async fn go_in(&mut self) -> RedisResult<Option<Inside>> {
        let clerk = Uuid::new_v4().to_string();
        let done: Option<String> = cmd("SET")
            .arg(Self::LOCK)
            .arg(&clerk)
            .arg("NX")
            .arg("PX")
            .arg(VAULT_STAY_SECS)
            .query_async(&mut self.redis)
            .await?;
        Ok(done.map(|_| Inside(clerk)))
    }

    pub async fn come_out(&mut self, inside: Inside) -> RedisResult<bool> {
        let n: i64 = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end",
        )
        .key(Self::LOCK)
        .arg(inside.0)
        .invoke_async(&mut self.redis)
        .await?;
        Ok(n == 1)
    }
}
