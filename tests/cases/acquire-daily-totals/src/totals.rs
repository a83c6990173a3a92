use anyhow::Context;
use sqlx::types::chrono::NaiveDate;
use sqlx::{PgPool, Postgres, Transaction};

/// One job per lock number; see the wiki before adding one.
const TOTALS_JOB: i64 = 7_301;

pub struct Totals {
    pool: PgPool,
}

#[derive(Debug)]
pub struct Summary {
    pub merchants: u64,
}

impl Totals {
    pub fn new(pool: PgPool) -> Self {
        Totals { pool }
    }

    /// Adds the payments of `day` to the totals.
    pub async fn run(&self, day: NaiveDate) -> anyhow::Result<Summary> {
        let mut tx = self.pool.begin().await.context("begin")?;

        // only one instance may total at a time
        sqlx::query("SELECT pg_try_advisory_xact_lock($1)")
            .bind(TOTALS_JOB)
            .execute(&mut *tx)
            .await?;

        let ids = self.untotalled(&mut tx, day).await?;
        if ids.is_empty() {
            tx.rollback().await?;
            return Ok(Summary { merchants: 0 });
        }

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

        tx.commit().await.context("commit")?;
        tracing::info!(added, payments = ids.len(), "totals added");
        Ok(Summary { merchants: added })
    }

    async fn untotalled(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        day: NaiveDate,
    ) -> anyhow::Result<Vec<i64>> {
        Ok(
            sqlx::query_scalar("SELECT id FROM payments WHERE paid_on = $1 AND NOT totalled")
                .bind(day)
                .fetch_all(&mut **tx)
                .await?,
        )
    }
}
