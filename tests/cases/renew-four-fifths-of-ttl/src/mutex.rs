use std::sync::LazyLock;
use std::time::Duration;

use async_trait::async_trait;
use bb8_redis::RedisConnectionManager;
use bb8_redis::redis::{self, Script};
use eyre::Result;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

static EXTEND: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local v = redis.call('GET', KEYS[1])
        if v == ARGV[1] then
            return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        end
        return 0",
    )
});

static UNLOCK: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local v = redis.call('GET', KEYS[1])
        if v == ARGV[1] then
            return redis.call('UNLINK', KEYS[1])
        end
        return 0",
    )
});

#[async_trait]
pub trait RemoteMutex: Send + Sync {
    async fn try_lock(&self, name: &str, ttl: Duration) -> Result<Option<Held>>;
    async fn unlock(&self, held: Held) -> Result<bool>;
}

pub struct Held {
    key: String,
    nonce: String,
    /// Cancelled when the mutex is lost.
    pub lost: CancellationToken,
    renewer: tokio::task::JoinHandle<()>,
    stop: DropGuard,
}

#[derive(Clone)]
pub struct RedisMutex {
    pool: bb8::Pool<RedisConnectionManager>,
}

impl RedisMutex {
    pub fn new(pool: bb8::Pool<RedisConnectionManager>) -> Self {
        Self { pool }
    }

    async fn extend(&self, key: &str, nonce: &str, ttl: Duration) -> Result<bool> {
        let mut conn = self.pool.get().await?;
        let n: i64 = EXTEND
            .key(key)
            .arg(nonce)
            .arg(ttl.as_millis() as u64)
            .invoke_async(&mut *conn)
            .await?;
        Ok(n == 1)
    }

    async fn renew(
        self,
        key: String,
        nonce: String,
        ttl: Duration,
        stop: CancellationToken,
        lost: CancellationToken,
    ) {
        let pause = ttl * 4 / 5;
        let mut failures = 0;
        while failures < 2 {
            tokio::select! {
                _ = stop.cancelled() => return,
                _ = tokio::time::sleep(pause) => {}
            }
            match self.extend(&key, &nonce, ttl).await {
                Ok(true) => failures = 0,
                Ok(false) => break,
                Err(e) => {
                    failures += 1;
                    tracing::warn!(%key, failures, "extend: {e}");
                }
            }
        }
        lost.cancel();
    }
}

#[async_trait]
impl RemoteMutex for RedisMutex {
    async fn try_lock(&self, name: &str, ttl: Duration) -> Result<Option<Held>> {
        let key = format!("mutex:{name}");
        let nonce = Uuid::new_v4().simple().to_string();
        let reply: Option<String> = {
            let mut conn = self.pool.get().await?;
            redis::cmd("SET")
                .arg(&key)
                .arg(&nonce)
                .arg("PX")
                .arg(ttl.as_millis() as u64)
                .arg("NX")
                .query_async(&mut *conn)
                .await?
        };
        if reply.is_none() {
            return Ok(None);
        }
        let stop = CancellationToken::new();
        let lost = CancellationToken::new();
        let renewer = tokio::spawn(self.clone().renew(
            key.clone(),
            nonce.clone(),
            ttl,
            stop.clone(),
            lost.clone(),
        ));
        Ok(Some(Held {
            key,
            nonce,
            lost,
            renewer,
            stop: stop.drop_guard(),
        }))
    }

    async fn unlock(&self, held: Held) -> Result<bool> {
        let Held {
            key,
            nonce,
            renewer,
            stop,
            ..
        } = held;
        drop(stop);
        renewer.await?;
        let mut conn = self.pool.get().await?;
        let n: i64 = UNLOCK
            .key(&key)
            .arg(&nonce)
            .invoke_async(&mut *conn)
            .await?;
        Ok(n == 1)
    }
}
