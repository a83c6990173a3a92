use bb8::Pool;
use bb8_redis::redis::{cmd, AsyncCommands};
use bb8_redis::RedisConnectionManager;
use uuid::Uuid;

const DOOR_SECONDS: u64 = 20;

/// Only one truck at a time stands at a loading bay.
pub struct BayDoor {
    pool: Pool<RedisConnectionManager>,
    bay: u16,
    opened: bool,
}

impl BayDoor {
    pub fn new(pool: Pool<RedisConnectionManager>, bay: u16) -> Self {
        Self {
            pool,
            bay,
            opened: false,
        }
    }

    fn key(&self) -> String {
        format!("warehouse:bay-lock:{}", self.bay)
    }

    pub async fn open(&mut self) -> anyhow::Result<bool> {
        let mut c = self.pool.get().await?;
        let reply: Option<String> = cmd("SET")
            .arg(self.key())
            .arg(Uuid::new_v4().to_string())
            .arg("EX")
            .arg(DOOR_SECONDS)
            .arg("NX")
            .query_async(&mut *c)
            .await?;
        self.opened = reply.as_deref() == Some("OK");
        Ok(self.opened)
    }

    pub async fn close(&mut self) -> anyhow::Result<()> {
        if !self.opened {
            return Ok(());
        }
        self.opened = false;
        let mut c = self.pool.get().await?;
        let _removed: i64 = c.del(self.key()).await?;
        Ok(())
    }
}
