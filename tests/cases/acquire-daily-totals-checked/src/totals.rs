use sqlx::types::chrono::NaiveDate;
use sqlx::PgPool;

use crate::turn::{turn, Job};

pub struct Totals {
    pool: PgPool,
}

impl Totals {
    pub fn new(pool: PgPool) -> Self {
        Totals { pool }
    }

    /// Adds the payments of `day`; `None` if another instance is adding.
    pub async fn run(&self, day: NaiveDate) -> anyhow::Result<Option<u64>> {
        let Some(mut tx) = turn(&self.pool, Job::Totals).await? else {
            tracing::debug!(%day, "not our turn");
            return Ok(None);
        };

        let ids: Vec<i64> =
            sqlx::query_scalar("SELECT id FROM payments WHERE paid_on = $1 AND NOT totalled")
                .bind(day)
                .fetch_all(&mut *tx)
                .await?;

        let added = sqlx::query(
            "INSERT INTO daily_totals (merchant, day, amount)
             SELECT merchant, paid_on, SUM(amount) FROM payments
              WHERE id = ANY($1) GROUP BY merchant, paid_on
             ON CONFLICT (merchant, day)
             DO UPDATE SET amount = daily_totals.amount + EXCLUDED.amount",
        )
        .bind(&ids)
        .execute(&mut *tx)
        .await?
        .rows_affected();

        sqlx::query("UPDATE payments SET totalled = TRUE WHERE id = ANY($1)")
            .bind(&ids)
            .execute(&mut *tx)
            .await?;

        tx.commit().await?;
        Ok(Some(added))
    }
}
