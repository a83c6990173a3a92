use std::fmt;
use std::time::Duration;

use fred::clients::Pool;
use fred::interfaces::{KeysInterface, LuaInterface};
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

const EVICT_IF: &str = r#"
    if redis.call("GET", KEYS[1]) == ARGV[1] then
        return redis.call("DEL", KEYS[1])
    end
    return 0
"#;

#[derive(Clone)]
pub struct Kv {
    pool: Pool,
}

impl Kv {
    pub fn new(pool: Pool) -> Self {
        Kv { pool }
    }

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

    /// For cached values; nobody owns those.
    pub async fn evict(&self, key: &Key) -> anyhow::Result<u64> {
        Ok(self.pool.del(key.to_string()).await?)
    }

    /// Removes the key only while it still holds `value`.
    pub async fn evict_if(&self, key: &Key, value: &str) -> anyhow::Result<bool> {
        let gone: i64 = self
            .pool
            .next()
            .eval(EVICT_IF, vec![key.to_string()], vec![value.to_owned()])
            .await?;
        Ok(gone == 1)
    }
}
