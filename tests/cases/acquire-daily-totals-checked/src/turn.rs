use sqlx::{PgPool, Postgres, Transaction};

#[derive(Clone, Copy, Debug)]
pub enum Job {
    Totals,
    Payouts,
}

impl Job {
    const fn number(self) -> i64 {
        match self {
            Job::Totals => 7_301,
            Job::Payouts => 7_302,
        }
    }
}

/// A transaction that only one instance can have at a time for a job.
pub async fn turn(pool: &PgPool, job: Job) -> sqlx::Result<Option<Transaction<'static, Postgres>>> {
    let mut tx = pool.begin().await?;
    let ours: bool = sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)")
        .bind(job.number())
        .fetch_one(&mut *tx)
        .await?;
    if ours {
        Ok(Some(tx))
    } else {
        tx.rollback().await?;
        Ok(None)
    }
}
