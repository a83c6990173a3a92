//! Leases with fencing tokens. The token comes from the same script that
//! takes the key.

use redis::aio::ConnectionManager;
use redis::Script;
use uuid::Uuid;

#[derive(Clone)]
pub struct Leases {
    conn: ConnectionManager,
    namespace: &'static str,
}

pub struct Lease {
    conn: ConnectionManager,
    key: String,
    owner: String,
    token: i64,
}

impl Leases {
    pub fn new(conn: ConnectionManager, namespace: &'static str) -> Self {
        Leases { conn, namespace }
    }

    pub async fn take(&self, name: &str, ttl_ms: u64) -> redis::RedisResult<Option<Lease>> {
        let key = format!("{}:{{{name}}}:lease", self.namespace);
        let counter = format!("{}:{{{name}}}:token", self.namespace);
        let owner = Uuid::new_v4().to_string();
        let mut conn = self.conn.clone();
        let token: i64 = Script::new(include_str!("take.lua"))
            .key(&key)
            .key(counter)
            .arg(&owner)
            .arg(ttl_ms)
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
        }))
    }
}

impl Lease {
    pub fn token(&self) -> i64 {
        self.token
    }

    pub async fn give(mut self) -> redis::RedisResult<bool> {
        let n: i64 = Script::new(include_str!("give.lua"))
            .key(self.key)
            .arg(self.owner)
            .invoke_async(&mut self.conn)
            .await?;
        Ok(n == 1)
    }
}
