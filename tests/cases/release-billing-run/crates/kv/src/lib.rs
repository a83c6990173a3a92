//! Thin wrapper, so that services do not depend on a Redis crate.

use std::fmt;
use std::time::Duration;

use fred::clients::Pool;
use fred::interfaces::KeysInterface;
use fred::types::{Expiration, SetOptions};

/// A key that already carries the environment's prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    pub fn new(env: &str, parts: &[&str]) -> Self {
        Key(format!("{env}/{}", parts.join("/")))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone)]
pub struct Kv {
    pool: Pool,
}

impl Kv {
    pub fn new(pool: Pool) -> Self {
        Kv { pool }
    }

    /// Stores the value if the key is free; true if it was.
    pub async fn put_new(&self, key: &Key, value: &str, ttl: Duration) -> anyhow::Result<bool> {
        let set: Option<String> = self
            .pool
            .set(
                key.to_string(),
                value,
                Some(Expiration::PX(ttl.as_millis() as i64)),
                Some(SetOptions::NX),
                false,
            )
            .await?;
        Ok(set.is_some())
    }

    pub async fn fetch(&self, key: &Key) -> anyhow::Result<Option<String>> {
        Ok(self.pool.get(key.to_string()).await?)
    }

    pub async fn evict(&self, key: &Key) -> anyhow::Result<u64> {
        Ok(self.pool.del(key.to_string()).await?)
    }
}
