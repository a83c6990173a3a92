use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sqlx::PgPool;

/// Any number that no other job of this database uses.
const RATES_JOB: i64 = 0x5241_5445;

#[derive(Serialize, Deserialize)]
pub struct Rate {
    pub pair: String,
    pub mid: f64,
}

pub struct RatesJob {
    pool: PgPool,
    http: reqwest::Client,
    out: PathBuf,
}

impl RatesJob {
    pub fn new(pool: PgPool, out: PathBuf) -> Self {
        Self {
            pool,
            http: reqwest::Client::new(),
            out,
        }
    }

    async fn download(&self, url: &str) -> anyhow::Result<Vec<Rate>> {
        let body = self.http.get(url).send().await?.error_for_status()?;
        Ok(body.json().await?)
    }

    async fn publish(&self, rates: &[Rate]) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(rates)?;
        tokio::fs::write(&self.out, text).await?;
        Ok(())
    }

    /// Replicas take turns, the second one writes the same file again.
    pub async fn run(&self, url: &str) -> anyhow::Result<usize> {
        let mut conn = self.pool.acquire().await?;
        sqlx::query("SELECT pg_advisory_lock($1)")
            .bind(RATES_JOB)
            .execute(&mut *conn)
            .await?;
        let rates = self.download(url).await?;
        self.publish(&rates).await?;
        sqlx::query("SELECT pg_advisory_unlock($1)")
            .bind(RATES_JOB)
            .execute(&mut *conn)
            .await?;
        Ok(rates.len())
    }
}
