use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::Pool;

/// Answers to requests that carried an `Idempotency-Key`.
pub struct Replies {
    pool: Pool,
}

pub enum Seen {
    First,
    Running,
    Answered(String),
}

impl Replies {
    pub async fn look(&self, caller: u64, id: &str) -> anyhow::Result<Seen> {
        let key = format!("reply:{caller}:{id}");
        let mut conn = self.pool.get().await?;
        let first: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg("running")
            .arg("EX")
            .arg(86_400)
            .arg("NX")
            .query_async(&mut conn)
            .await?;
        if first.is_some() {
            return Ok(Seen::First);
        }
        let stored: Option<String> = conn.get(&key).await?;
        Ok(match stored {
            Some(body) if body != "running" => Seen::Answered(body),
            _ => Seen::Running,
        })
    }

    pub async fn answered(&self, caller: u64, id: &str, body: &str) -> anyhow::Result<()> {
        let mut conn = self.pool.get().await?;
        let () = conn
            .set_ex(format!("reply:{caller}:{id}"), body, 86_400)
            .await?;
        Ok(())
    }
}
