use redis::aio::ConnectionManager;
use redis::{RedisResult, Script};
use uuid::Uuid;

const BREAK: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Exclusive right on one name, for a limited time.
pub struct Seal {
    conn: ConnectionManager,
    name: String,
    mark: String,
}

impl Seal {
    pub async fn put(conn: &ConnectionManager, name: &str, ms: u64) -> RedisResult<Option<Seal>> {
        let mark = Uuid::new_v4().to_string();
        let mut c = conn.clone();
        let done: Option<String> = redis::cmd("SET")
            .arg(name)
            .arg(&mark)
            .arg("NX")
            .arg("PX")
            .arg(ms)
            .query_async(&mut c)
            .await?;
        Ok(done.map(|_| Seal {
            conn: c,
            name: name.to_string(),
            mark,
        }))
    }

    /// False when the seal was no longer ours.
    pub async fn break_it(mut self) -> RedisResult<bool> {
        Script::new(BREAK)
            .key(&self.name)
            .arg(&self.mark)
            .invoke_async(&mut self.conn)
            .await
    }
}
