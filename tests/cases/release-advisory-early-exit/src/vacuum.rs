use sqlx::postgres::PgPool;
use sqlx::Connection;

use crate::keys::AdvisoryKey;

pub struct PartitionKeeper {
    pool: PgPool,
    keep_months: i64,
}

#[derive(Debug, Default)]
pub struct Report {
    pub dropped: Vec<String>,
}

impl PartitionKeeper {
    pub fn new(pool: PgPool, keep_months: i64) -> Self {
        Self { pool, keep_months }
    }

    /// Drops the partitions that are past their time. One instance at a time.
    pub async fn run(&self) -> anyhow::Result<Report> {
        let mut conn = self.pool.acquire().await?;
        sqlx::query("SELECT pg_advisory_lock($1)")
            .bind(AdvisoryKey::PartitionKeeper.id())
            .execute(&mut *conn)
            .await?;

        let current: i64 = sqlx::query_scalar("SELECT count(*) FROM event_partitions")
            .fetch_one(&mut *conn)
            .await?;
        if current <= self.keep_months {
            tracing::debug!(current, "nothing to drop");
            return Ok(Report::default());
        }

        let old: Vec<String> = sqlx::query_scalar(
            "SELECT name FROM event_partitions
              WHERE upper_bound < now() - make_interval(months => $1::int)
              ORDER BY upper_bound",
        )
        .bind(self.keep_months)
        .fetch_all(&mut *conn)
        .await?;

        let mut report = Report::default();
        for name in old {
            anyhow::ensure!(
                name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
                "odd partition name {name:?}"
            );
            let mut tx = conn.begin().await?;
            sqlx::query(&format!("ALTER TABLE events DETACH PARTITION {name}"))
                .execute(&mut *tx)
                .await?;
            sqlx::query(&format!("DROP TABLE {name}"))
                .execute(&mut *tx)
                .await?;
            tx.commit().await?;
            report.dropped.push(name);
        }

        sqlx::query("SELECT pg_advisory_unlock($1)")
            .bind(AdvisoryKey::PartitionKeeper.id())
            .execute(&mut *conn)
            .await?;
        Ok(report)
    }
}
