mod config;

use fred::prelude::*;
use fred::types::{Expiration, SetOptions};
use uuid::Uuid;

const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// A buzzer of a quiz: while one player has it, the others are ignored.
pub struct Buzzer {
    redis: Client,
    key: String,
}

impl Buzzer {
    pub fn new(redis: Client, quiz: u64) -> Self {
        Self {
            redis,
            key: format!("quiz:{quiz}:buzzer-lock"),
        }
    }

    pub async fn hit(&self) -> Result<Option<String>, Error> {
        let hit = Uuid::new_v4().to_string();
        let ttl = Expiration::EX(config::BUZZ.as_secs() as i64);
        let first: Option<String> = self
            .redis
            .set(self.key.as_str(), hit.as_str(), Some(ttl), Some(SetOptions::NX), false)
            .await?;
        Ok(first.map(|_| hit))
    }

    pub async fn reset(&self, hit: &str) -> Result<bool, Error> {
        let n: i64 = self.redis.eval(RELEASE, self.key.as_str(), hit).await?;
        Ok(n == 1)
    }
}
