use redis::aio::ConnectionManager;
use redis::Script;

use crate::identity::Holder;

const EXTEND: &str = include_str!("extend.lua");
const YIELD: &str = include_str!("yield.lua");

pub struct VolumeLease {
    conn: ConnectionManager,
    key: String,
    holder: Holder,
    ttl_ms: u64,
}

impl VolumeLease {
    pub async fn try_take(
        mut conn: ConnectionManager,
        volume: &str,
        ttl_ms: u64,
    ) -> redis::RedisResult<Option<Self>> {
        let key = format!("backup:volume:{volume}");
        let holder = Holder::fresh();
        let reply: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(holder.to_string())
            .arg("NX")
            .arg("PX")
            .arg(ttl_ms)
            .query_async(&mut conn)
            .await?;
        Ok(reply.map(|_| VolumeLease {
            conn,
            key,
            holder,
            ttl_ms,
        }))
    }

    pub async fn extend(&mut self) -> redis::RedisResult<bool> {
        let n: i64 = Script::new(EXTEND)
            .key(&self.key)
            .arg(self.holder.to_string())
            .arg(self.ttl_ms)
            .invoke_async(&mut self.conn)
            .await?;
        Ok(n == 1)
    }

    pub async fn give_up(mut self) -> redis::RedisResult<bool> {
        let n: i64 = Script::new(YIELD)
            .key(&self.key)
            .arg(self.holder.to_string())
            .invoke_async(&mut self.conn)
            .await?;
        Ok(n == 1)
    }
}
