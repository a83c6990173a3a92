use anyhow::Result;
use redis::AsyncCommands;
use redis::aio::ConnectionManager;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

const IDLE_SECS: i64 = 1_800;

#[derive(Serialize, Deserialize)]
pub struct Session {
    pub user: u64,
    pub csrf: Uuid,
}

#[derive(Clone)]
pub struct Sessions {
    redis: ConnectionManager,
}

impl Sessions {
    pub fn new(redis: ConnectionManager) -> Self {
        Self { redis }
    }

    fn key(id: Uuid) -> String {
        format!("session:{id}")
    }

    pub async fn open(&self, user: u64) -> Result<Uuid> {
        let id = Uuid::new_v4();
        let body = serde_json::to_string(&Session {
            user,
            csrf: Uuid::new_v4(),
        })?;
        self.redis
            .clone()
            .set_ex::<_, _, ()>(Self::key(id), body, IDLE_SECS as u64)
            .await?;
        Ok(id)
    }

    /// Looks the session up and keeps it open for another half hour.
    pub async fn touch(&self, id: Uuid, csrf: Uuid) -> Result<Option<Session>> {
        let mut redis = self.redis.clone();
        let body: Option<String> = redis.get(Self::key(id)).await?;
        let Some(body) = body else { return Ok(None) };
        let session: Session = serde_json::from_str(&body)?;
        if session.csrf == csrf {
            redis.expire::<_, ()>(Self::key(id), IDLE_SECS).await?;
        }
        Ok(Some(session))
    }

    pub async fn close(&self, id: Uuid) -> Result<()> {
        self.redis.clone().del::<_, ()>(Self::key(id)).await?;
        Ok(())
    }
}
