use redis::aio::ConnectionManager;
use redis::Script;

use crate::identity::owner_name;

const EXTEND: &str = include_str!("extend.lua");
const YIELD: &str = include_str!("yield.lua");

pub struct VolumeLease {
    conn: ConnectionManager,
    key: String,
    owner: String,
    ttl_ms: u64,
}

impl VolumeLease {
    pub fn new(conn: ConnectionManager, volume: &str, ttl_ms: u64) -> Self {
        VolumeLease {
            conn,
            key: format!("backup:volume:{volume}"),
            owner: owner_name(),
            ttl_ms,
        }
    }

    pub async fn try_take(&mut self) -> redis::RedisResult<bool> {
        let reply: Option<String> = redis::cmd("SET")
            .arg(&self.key)
            .arg(&self.owner)
            .arg("NX")
            .arg("PX")
            .arg(self.ttl_ms)
            .query_async(&mut self.conn)
            .await?;
        Ok(reply.is_some())
    }

    pub async fn extend(&mut self) -> redis::RedisResult<bool> {
        let n: i64 = Script::new(EXTEND)
            .key(&self.key)
            .arg(&self.owner)
            .arg(self.ttl_ms)
            .invoke_async(&mut self.conn)
            .await?;
        Ok(n == 1)
    }

    pub async fn give_up(&mut self) -> redis::RedisResult<bool> {
        let n: i64 = Script::new(YIELD)
            .key(&self.key)
            .arg(&self.owner)
            .invoke_async(&mut self.conn)
            .await?;
        Ok(n == 1)
    }
}
