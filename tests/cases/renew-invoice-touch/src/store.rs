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

    /// Moves the key's expiry `ttl_ms` into the future.
    pub async fn touch(&self, key: &str, ttl_ms: i64) -> anyhow::Result<bool> {
        Ok(self.conn.clone().pexpire(key, ttl_ms).await?)
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
