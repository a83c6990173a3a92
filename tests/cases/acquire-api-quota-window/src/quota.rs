use redis::aio::ConnectionManager;
use redis::{pipe, AsyncCommands, ExistenceCheck, RedisResult, SetExpiry, SetOptions};

pub enum Verdict {
    Pass { left: i64 },
    Wait { ms: i64 },
}

/// So many calls in a window, for each API key.
#[derive(Clone)]
pub struct Quota {
    redis: ConnectionManager,
    calls: i64,
    window_secs: u64,
}

impl Quota {
    pub fn new(redis: ConnectionManager, calls: i64, window_secs: u64) -> Self {
        Self {
            redis,
            calls,
            window_secs,
        }
    }

    pub async fn ask(&self, api_key: &str) -> RedisResult<Verdict> {
        let mut c = self.redis.clone();
        let counter = format!("quota:{api_key}");
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::EX(self.window_secs));
        let (used, left_ms): (i64, i64) = pipe()
            .atomic()
            .set_options(&counter, 0, opts)
            .ignore()
            .incr(&counter, 1)
            .pttl(&counter)
            .query_async(&mut c)
            .await?;
        if used > self.calls {
            tracing::debug!(api_key, used, "over quota");
            return Ok(Verdict::Wait { ms: left_ms });
        }
        Ok(Verdict::Pass {
            left: self.calls - used,
        })
    }

    /// For support: the customer starts with a full quota again.
    pub async fn reset(&self, api_key: &str) -> RedisResult<()> {
        self.redis.clone().del(format!("quota:{api_key}")).await
    }

    pub async fn warn_once(&self, api_key: &str) -> RedisResult<bool> {
        let fresh: Option<String> = redis::cmd("SET")
            .arg(format!("quota:warned:{api_key}"))
            .arg(1)
            .arg("NX")
            .arg("EX")
            .arg(86_400)
            .query_async(&mut self.redis.clone())
            .await?;
        Ok(fresh.is_some())
    }
}
