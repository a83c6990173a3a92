use std::future::Future;

use deadpool_postgres::Pool;

/// Keys of this program's session locks.
#[repr(i64)]
#[derive(Clone, Copy)]
pub enum Duty {
    Invoices = 7_001,
    Reminders = 7_002,
}

pub struct Duties {
    pool: Pool,
}

impl Duties {
    pub fn new(pool: Pool) -> Self {
        Self { pool }
    }

    async fn take(&self, duty: Duty) -> anyhow::Result<bool> {
        let client = self.pool.get().await?;
        let row = client
            .query_one("SELECT pg_try_advisory_lock($1)", &[&(duty as i64)])
            .await?;
        Ok(row.get(0))
    }

    async fn give(&self, duty: Duty) -> anyhow::Result<bool> {
        let client = self.pool.get().await?;
        let row = client
            .query_one("SELECT pg_advisory_unlock($1)", &[&(duty as i64)])
            .await?;
        Ok(row.get(0))
    }

    /// Does a duty if no other node is doing it.
    pub async fn perform<F>(&self, duty: Duty, work: F) -> anyhow::Result<Option<F::Output>>
    where
        F: Future,
    {
        if !self.take(duty).await? {
            return Ok(None);
        }
        let out = work.await;
        anyhow::ensure!(self.give(duty).await?, "the lock was on another connection");
        Ok(Some(out))
    }
}
