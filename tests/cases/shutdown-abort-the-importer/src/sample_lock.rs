use std::time::Duration;

use anyhow::{Result, anyhow};
use redis::Script;
use redis::aio::ConnectionManager;
use uuid::Uuid;

const TTL_MS: u64 = 60_000;

pub struct SampleLock {
    redis: ConnectionManager,
    key: String,
    token: Uuid,
}

impl SampleLock {
    pub async fn acquire(mut redis: ConnectionManager, sample: &str) -> Result<Option<Self>> {
        let key = format!("import:{sample}");
        let token = Uuid::new_v4();
        let ok: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(token.to_string())
            .arg("NX")
            .arg("PX")
            .arg(TTL_MS)
            .query_async(&mut redis)
            .await?;
        Ok(ok.map(|_| Self { redis, key, token }))
    }

    /// Renews; comes back when the lock is lost.
    pub async fn keep(&self) -> anyhow::Error {
        let script = Script::new(
            r#"if redis.call("get", KEYS[1]) == ARGV[1] then
                   return redis.call("pexpire", KEYS[1], ARGV[2])
               end
               return 0"#,
        );
        let mut failed = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(TTL_MS / 4)).await;
            let mut call = script.key(&self.key);
            call.arg(self.token.to_string()).arg(TTL_MS);
            match call.invoke_async::<i64>(&mut self.redis.clone()).await {
                Ok(1) => failed = 0,
                Ok(_) => return anyhow!("{} is locked by somebody else", self.key),
                Err(e) => {
                    failed += 1;
                    tracing::warn!(failed, "renewal: {e}");
                    if failed >= 2 {
                        return e.into();
                    }
                }
            }
        }
    }

    pub async fn release(mut self) -> Result<bool> {
        let n: i64 = Script::new(
            r#"if redis.call("get", KEYS[1]) == ARGV[1] then
                   return redis.call("del", KEYS[1])
               end
               return 0"#,
        )
        .key(&self.key)
        .arg(self.token.to_string())
        .invoke_async(&mut self.redis)
        .await?;
        Ok(n == 1)
    }
}
