use std::time::{Duration, Instant};

use redis::aio::ConnectionManager;
use redis::Script;
use uuid::Uuid;

const MARGIN: Duration = Duration::from_millis(500);

const ACQUIRE: &str = r#"
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
    return redis.call("INCR", KEYS[2])
else
    return 0
end
"#;

const RELEASE: &str = r#"
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
else
    return 0
end
"#;

pub struct Lease {
    conn: ConnectionManager,
    key: String,
    owner: String,
    token: i64,
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
        let token: i64 = Script::new(ACQUIRE)
            .key(&key)
            .key(format!("{key}:token"))
            .arg(&owner)
            .arg(ttl.as_millis() as u64)
            .invoke_async(&mut conn)
            .await?;
        if token == 0 {
            return Ok(None);
        }
        Ok(Some(Lease {
            conn,
            key,
            owner,
            token,
            deadline: asked + ttl - MARGIN,
        }))
    }

    pub fn token(&self) -> i64 {
        self.token
    }

    pub fn is_held(&self) -> bool {
        Instant::now() < self.deadline
    }

    pub async fn release(mut self) -> redis::RedisResult<bool> {
        let freed: i64 = Script::new(RELEASE)
            .key(&self.key)
            .arg(&self.owner)
            .invoke_async(&mut self.conn)
            .await?;
        Ok(freed == 1)
    }
}
