use std::time::Duration;

use async_trait::async_trait;
use redis::aio::ConnectionManager;
use redis::{AsyncCommands, Script};

#[async_trait]
pub trait KeyValue: Send + Sync {
    async fn put_if_absent(&self, key: &str, value: &str) -> anyhow::Result<bool>;
    async fn expire_in(&self, key: &str, after: Duration) -> anyhow::Result<()>;
    async fn remove_if_equals(&self, key: &str, value: &str) -> anyhow::Result<bool>;
    async fn counter(&self, key: &str) -> anyhow::Result<i64>;
}

pub struct RedisKeyValue {
    conn: ConnectionManager,
    remove: Script,
}

impl RedisKeyValue {
    pub fn new(conn: ConnectionManager) -> Self {
        let remove = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        );
        RedisKeyValue { conn, remove }
    }
}

#[async_trait]
impl KeyValue for RedisKeyValue {
    async fn put_if_absent(&self, key: &str, value: &str) -> anyhow::Result<bool> {
        let mut conn = self.conn.clone();
        Ok(conn.set_nx(key, value).await?)
    }

    async fn expire_in(&self, key: &str, after: Duration) -> anyhow::Result<()> {
        let mut conn = self.conn.clone();
        let _: bool = conn.expire(key, after.as_secs() as i64).await?;
        Ok(())
    }

    async fn remove_if_equals(&self, key: &str, value: &str) -> anyhow::Result<bool> {
        let mut conn = self.conn.clone();
        let n: i64 = self
            .remove
            .key(key)
            .arg(value)
            .invoke_async(&mut conn)
            .await?;
        Ok(n == 1)
    }

    async fn counter(&self, key: &str) -> anyhow::Result<i64> {
        let mut conn = self.conn.clone();
        Ok(conn.incr(key, 1).await?)
    }
}
