use redis::aio::ConnectionManager;
use redis::{ExistenceCheck, Script, SetExpiry, SetOptions};
use uuid::Uuid;

const FREE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

#[derive(Clone)]
pub struct Locks {
    conn: ConnectionManager,
}

pub struct LockGuard {
    conn: ConnectionManager,
    key: String,
    token: String,
}

impl Locks {
    pub fn new(conn: ConnectionManager) -> Self {
        Locks { conn }
    }

    pub async fn acquire(&self, key: &str, ttl_ms: u64) -> anyhow::Result<Option<LockGuard>> {
        use redis::AsyncCommands;
        let token = Uuid::new_v4().to_string();
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(ttl_ms));
        let mut conn = self.conn.clone();
        let ok: Option<String> = conn.set_options(key, &token, opts).await?;
        Ok(ok.map(|_| LockGuard {
            conn,
            key: key.to_owned(),
            token,
        }))
    }
}

impl LockGuard {
    pub async fn release(mut self) -> anyhow::Result<bool> {
        let freed: i64 = Script::new(FREE)
            .key(&self.key)
            .arg(&self.token)
            .invoke_async(&mut self.conn)
            .await?;
        Ok(freed == 1)
    }
}
