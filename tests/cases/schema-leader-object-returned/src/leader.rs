use deadpool_postgres::{Object, Pool};

/// Leader election by a session advisory lock.
pub struct Leader {
    pool: Pool,
    lock: i64,
    client: Option<Object>,
}

impl Leader {
    pub fn new(pool: Pool, lock: i64) -> Self {
        Leader {
            pool,
            lock,
            client: None,
        }
    }

    pub fn is_leader(&self) -> bool {
        self.client.is_some()
    }

    /// The session that leads. Everything the leader writes goes through it.
    pub fn session(&mut self) -> Option<&mut Object> {
        self.client.as_mut()
    }

    pub async fn campaign(&mut self) -> anyhow::Result<bool> {
        if self.client.is_some() {
            return Ok(true);
        }
        let client = self.pool.get().await?;
        let won: bool = client
            .query_one("SELECT pg_try_advisory_lock($1)", &[&self.lock])
            .await?
            .get(0);
        if won {
            tracing::info!(lock = self.lock, "leading");
            self.client = Some(client);
        }
        Ok(won)
    }

    /// Lets another instance lead.
    pub fn step_down(&mut self) {
        if self.client.is_some() {
            self.client = None;
            tracing::info!(lock = self.lock, "no longer leading");
        }
    }
}
