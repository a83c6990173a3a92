use std::future::Future;

use deadpool_redis::redis::{self, RedisError, Script};
use deadpool_redis::{Connection, Pool};
use uuid::Uuid;

const CLEAN: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Payouts to one shop must not run twice at the same time.
pub struct PayoutGate {
    pool: Pool,
}

impl PayoutGate {
    pub fn new(pool: Pool) -> Self {
        Self { pool }
    }

    async fn close_behind(c: &mut Connection, shop: u64, pass: &str) -> Result<bool, RedisError> {
        let won: Option<String> = redis::cmd("SET")
            .arg(format!("payout:{shop}:gate"))
            .arg(pass)
            .arg("NX")
            .arg("PX")
            .arg(120_000)
            .query_async(c)
            .await?;
        Ok(won.is_some())
    }

    pub async fn through<T, F: Future<Output = T>>(&self, shop: u64, payout: impl FnOnce() -> F) -> Option<T> {
        let pass = Uuid::new_v4().to_string();
        let mut c = match self.pool.get().await {
            Ok(c) => c,
            Err(e) => {
                tracing::error!("no connection: {e}");
                return None;
            }
        };
        // do not stop the business because of a cache
        let entered = Self::close_behind(&mut c, shop, &pass).await.unwrap_or(true);
        if !entered {
            return None;
        }
        let paid = payout().await;
        let opened: Result<i64, RedisError> = Script::new(CLEAN)
            .key(format!("payout:{shop}:gate"))
            .arg(&pass)
            .invoke_async(&mut c)
            .await;
        if !matches!(opened, Ok(1)) {
            tracing::error!(shop, "the gate was not ours at the end: {opened:?}");
        }
        Some(paid)
    }
}
