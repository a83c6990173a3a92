use async_trait::async_trait;
use redis::aio::ConnectionManager;

#[async_trait]
pub trait Mutexes: Send + Sync {
    async fn take(&self, key: &str, who: &str, ms: u64) -> redis::RedisResult<bool>;
    async fn prolong(&self, key: &str, who: &str, ms: u64) -> redis::RedisResult<bool>;
    async fn give(&self, key: &str, who: &str) -> redis::RedisResult<bool>;
}

pub struct FunctionMutexes {
    conn: ConnectionManager,
}

impl FunctionMutexes {
    /// Loads the library; harmless when it is there already.
    pub async fn connect(mut conn: ConnectionManager) -> redis::RedisResult<Self> {
        let _: String = redis::cmd("FUNCTION")
            .arg("LOAD")
            .arg("REPLACE")
            .arg(include_str!("../functions/orderdesk.lua"))
            .query_async(&mut conn)
            .await?;
        Ok(Self { conn })
    }

    async fn fcall(&self, name: &str, key: &str, args: &[&str]) -> redis::RedisResult<bool> {
        let mut conn = self.conn.clone();
        let mut cmd = redis::cmd("FCALL");
        cmd.arg(name).arg(1).arg(key);
        for arg in args {
            cmd.arg(*arg);
        }
        let n: i64 = cmd.query_async(&mut conn).await?;
        Ok(n == 1)
    }
}

#[async_trait]
impl Mutexes for FunctionMutexes {
    async fn take(&self, key: &str, who: &str, ms: u64) -> redis::RedisResult<bool> {
        self.fcall("orderdesk_take", key, &[who, &ms.to_string()])
            .await
    }

    async fn prolong(&self, key: &str, who: &str, ms: u64) -> redis::RedisResult<bool> {
        self.fcall("orderdesk_prolong", key, &[who, &ms.to_string()])
            .await
    }

    async fn give(&self, key: &str, who: &str) -> redis::RedisResult<bool> {
        self.fcall("orderdesk_give", key, &[who]).await
    }
}
