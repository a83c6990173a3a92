use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Script};

/// Thin wrapper so that the rest of the crate never sees `redis`.
#[derive(Clone)]
pub struct Store {
    conn: MultiplexedConnection,
}

const REMOVE_IF: &str = r#"
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
end
return 0
"#;

const TOUCH_IF: &str = r#"
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
"#;

impl Store {
    pub fn new(conn: MultiplexedConnection) -> Self {
        Self { conn }
    }

    pub async fn put_if_absent(&self, key: &str, value: &str, ttl_ms: u64) -> anyhow::Result<bool> {
        let mut conn = self.conn.clone();
        let reply: Option<String> = redis::cmd("SET")
            .arg(key)
            .arg(value)
            .arg("NX")
            .arg("PX")
            .arg(ttl_ms)
            .query_async(&mut conn)
            .await?;
        Ok(reply.is_some())
    }

    pub async fn read(&self, key: &str) -> anyhow::Result<Option<String>> {
        Ok(self.conn.clone().get(key).await?)
    }

    /// Moves the key's expiry `ttl_ms` into the future while it still holds `value`.
    pub async fn touch_if(&self, key: &str, value: &str, ttl_ms: u64) -> anyhow::Result<bool> {
        let n: i64 = Script::new(TOUCH_IF)
            .key(key)
            .arg(value)
            .arg(ttl_ms)
            .invoke_async(&mut self.conn.clone())
            .await?;
        Ok(n == 1)
    }

    pub async fn remove_if(&self, key: &str, value: &str) -> anyhow::Result<bool> {
        let n: i64 = Script::new(REMOVE_IF)
            .key(key)
            .arg(value)
            .invoke_async(&mut self.conn.clone())
            .await?;
        Ok(n == 1)
    }
}
