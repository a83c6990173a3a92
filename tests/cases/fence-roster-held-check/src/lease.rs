use std::time::{Duration, Instant};

use redis::aio::ConnectionManager;
use redis::Script;
use uuid::Uuid;

const MARGIN: Duration = Duration::from_millis(500);

pub struct Lease {
    conn: ConnectionManager,
    key: String,
    owner: String,
    deadline: Instant,
}

impl Lease {
    pub async fn acquire(
        mut conn: ConnectionManager,
        key: String,
        ttl: Duration,
    ) -> redis::RedisResult<Option<Lease>> {
        let owner = Uuid::new_v4().to_string();
        let asked = Instant::now();
        let reply: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(&owner)
            .arg("NX")
            .arg("PX")
            .arg(ttl.as_millis() as u64)
            .query_async(&mut conn)
            .await?;
        Ok(reply.map(|_| Lease {
            conn,
            key,
            owner,
            deadline: asked + ttl - MARGIN,
        }))
    }

    pub fn is_held(&self) -> bool {
        Instant::now() < self.deadline
    }

    pub async fn release(mut self) -> redis::RedisResult<bool> {
        let freed: i64 = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        )
        .key(&self.key)
        .arg(&self.owner)
        .invoke_async(&mut self.conn)
        .await?;
        Ok(freed == 1)
    }
}
