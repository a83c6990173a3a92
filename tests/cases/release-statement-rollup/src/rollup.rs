use sqlx::types::chrono::NaiveDate;
use sqlx::PgPool;

use crate::locks::Locks;

pub struct Rollups {
    db: PgPool,
    locks: Locks,
}

struct Sums {
    total_cents: i64,
    entries: i64,
}

impl Rollups {
    pub async fn roll_up(&self, account: i64, month: NaiveDate) -> anyhow::Result<bool> {
        let key = format!("rollup:{account}:{month}");
        let Some(guard) = self.locks.acquire(&key, 20_000).await? else {
            return Ok(false);
        };

        let sums = self.sum_entries(account, month).await;
        if !guard.release().await? {
            tracing::warn!(account, "roll-up took longer than its lock");
        }
        let sums = sums?;

        sqlx::query(
            "UPDATE statement_rollups SET total_cents = $3, entries = $4 \
             WHERE account_id = $1 AND month = $2",
        )
        .bind(account)
        .bind(month)
        .bind(sums.total_cents)
        .bind(sums.entries)
        .execute(&self.db)
        .await?;
        Ok(true)
    }

    async fn sum_entries(&self, account: i64, month: NaiveDate) -> anyhow::Result<Sums> {
        let (total_cents, entries): (i64, i64) = sqlx::query_as(
            "SELECT COALESCE(SUM(amount_cents), 0)::BIGINT, COUNT(*) FROM entries \
             WHERE account_id = $1 AND booked_on >= $2 AND booked_on < $2 + INTERVAL '1 month'",
        )
        .bind(account)
        .bind(month)
        .fetch_one(&self.db)
        .await?;
        Ok(Sums {
            total_cents,
            entries,
        })
    }
}
