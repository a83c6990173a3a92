use deadpool_postgres::{ClientWrapper, Object, Pool};

/// Leads as long as its own database session lives.
pub struct Leader {
    session: ClientWrapper,
    lock: i64,
}

impl Leader {
    pub async fn campaign(pool: &Pool, lock: i64) -> anyhow::Result<Option<Leader>> {
        // out of the pool: this session is never lent to anybody else
        let session = Object::take(pool.get().await?);
        let won: bool = session
            .query_one("SELECT pg_try_advisory_lock($1)", &[&lock])
            .await?
            .get(0);
        if !won {
            return Ok(None);
        }
        Ok(Some(Leader { session, lock }))
    }

    pub fn session(&self) -> &tokio_postgres::Client {
        &self.session
    }

    /// Ends the session, and the lock with it.
    pub fn step_down(self) {
        tracing::info!(lock = self.lock, "stepping down");
        drop(self.session);
    }
}
