use anyhow::ensure;
use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres};

const SEAL: i64 = 0x5345_414c;

pub struct Sealer {
    pool: PgPool,
}

impl Sealer {
    pub fn new(pool: PgPool) -> Self {
        Sealer { pool }
    }

    /// Seals a day of the ledger, in the session that holds the lock.
    pub async fn seal(&self, day: &str) -> anyhow::Result<u64> {
        let mut conn = self.pool.acquire().await?;
        // should we be cancelled, the connection is closed, not lent again
        conn.close_on_drop();

        sqlx::query("SELECT pg_advisory_lock($1)")
            .bind(SEAL)
            .execute(&mut *conn)
            .await?;

        let sealed = Self::seal_day(&mut conn, day).await;

        let unlocked: bool = sqlx::query_scalar("SELECT pg_advisory_unlock($1)")
            .bind(SEAL)
            .fetch_one(&mut *conn)
            .await?;
        ensure!(unlocked, "the seal lock was not held");
        sealed
    }

    async fn seal_day(conn: &mut PoolConnection<Postgres>, day: &str) -> anyhow::Result<u64> {
        let open: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM ledger_entries WHERE day = $1::DATE AND state = 'open'",
        )
        .bind(day)
        .fetch_one(&mut **conn)
        .await?;
        ensure!(open == 0, "{open} entries of {day} are still open");
        let done = sqlx::query(
            "UPDATE ledger_entries SET state = 'sealed' WHERE day = $1::DATE AND state = 'booked'",
        )
        .bind(day)
        .execute(&mut **conn)
        .await?;
        Ok(done.rows_affected())
    }
}
