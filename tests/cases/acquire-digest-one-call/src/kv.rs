use std::future::Future;
use std::time::Duration;

use redis::aio::ConnectionManager;
use redis::{AsyncCommands, ExistenceCheck, Script, SetExpiry, SetOptions};

pub trait KeyValue: Clone + Send + Sync + 'static {
    fn put_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Duration,
    ) -> impl Future<Output = anyhow::Result<bool>> + Send;

    fn remove_if_equals(
        &self,
        key: &str,
        value: &str,
    ) -> impl Future<Output = anyhow::Result<bool>> + Send;

    /// A counter that starts again every `window`.
    fn count_in(
        &self,
        key: &str,
        window: Duration,
    ) -> impl Future<Output = anyhow::Result<i64>> + Send;
}

#[derive(Clone)]
pub struct RedisKeyValue(ConnectionManager);

impl KeyValue for RedisKeyValue {
    async fn put_if_absent(&self, key: &str, value: &str, ttl: Duration) -> anyhow::Result<bool> {
        let options = SetOptions::default()
            .with_expiration(SetExpiry::PX(ttl.as_millis() as usize))
            .conditional_set(ExistenceCheck::NX);
        let reply: Option<String> = self.0.clone().set_options(key, value, options).await?;
        Ok(reply.is_some())
    }

    async fn remove_if_equals(&self, key: &str, value: &str) -> anyhow::Result<bool> {
        let n: i64 = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        )
        .key(key)
        .arg(value)
        .invoke_async(&mut self.0.clone())
        .await?;
        Ok(n == 1)
    }

    async fn count_in(&self, key: &str, window: Duration) -> anyhow::Result<i64> {
        let mut conn = self.0.clone();
        let n: i64 = conn.incr(key, 1).await?;
        if n == 1 {
            // a new counter must not outlive its window
            let _: bool = conn.expire(key, window.as_secs() as i64).await?;
        }
        Ok(n)
    }
}
