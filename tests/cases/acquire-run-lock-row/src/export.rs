use std::path::{Path, PathBuf};

use sqlx::PgPool;

use crate::run_lock::RunLock;

pub struct Exporter {
    pool: PgPool,
    out: PathBuf,
}

impl Exporter {
    pub fn new(pool: PgPool, out: impl AsRef<Path>) -> Self {
        Exporter {
            pool,
            out: out.as_ref().to_owned(),
        }
    }

    pub async fn export(&self, ledger: i64) -> anyhow::Result<Option<usize>> {
        let run_name = format!("export-{ledger}");
        let Some(lock) = RunLock::take(&self.pool, &run_name).await? else {
            tracing::info!(ledger, "already being exported");
            return Ok(None);
        };
        let written = self.write_csv(ledger).await;
        if !lock.free().await? {
            tracing::error!(ledger, "the run's row was gone");
        }
        written.map(Some)
    }

    async fn write_csv(&self, ledger: i64) -> anyhow::Result<usize> {
        let rows: Vec<(i64, String, i64)> = sqlx::query_as(
            "SELECT id, booked_on::TEXT, amount_cents FROM entries WHERE ledger_id = $1 ORDER BY id",
        )
        .bind(ledger)
        .fetch_all(&self.pool)
        .await?;
        let mut file = String::new();
        for (id, day, cents) in &rows {
            file.push_str(&format!("{id};{day};{cents}\n"));
        }
        std::fs::write(self.out.join(format!("{ledger}.csv")), file)?;
        Ok(rows.len())
    }
}
