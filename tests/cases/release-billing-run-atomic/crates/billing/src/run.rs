use std::time::Duration;

use acme_kv::{Key, Kv};
use uuid::Uuid;

const RUN_TTL: Duration = Duration::from_secs(15 * 60);

pub struct OpenRun {
    key: Key,
    stamp: String,
}

pub struct BillingRuns {
    kv: Kv,
    env: String,
    http: reqwest::Client,
    provider: String,
}

impl BillingRuns {
    pub async fn open(&self, period: &str) -> anyhow::Result<Option<OpenRun>> {
        let run = OpenRun {
            key: Key::new(&self.env, &["billing", "run", period]),
            stamp: Uuid::new_v4().to_string(),
        };
        let ours = self.kv.put_new(&run.key, &run.stamp, RUN_TTL).await?;
        Ok(ours.then_some(run))
    }

    pub async fn close(&self, run: OpenRun) -> anyhow::Result<bool> {
        let ours = self.kv.evict_if(&run.key, &run.stamp).await?;
        if !ours {
            tracing::warn!(key = %run.key, "billing run had expired before it was closed");
        }
        Ok(ours)
    }

    pub async fn bill(&self, period: &str, customers: &[u64]) -> anyhow::Result<usize> {
        let Some(run) = self.open(period).await? else {
            return Ok(0);
        };
        let outcome = self.issue_all(period, customers).await;
        anyhow::ensure!(self.close(run).await?, "billing run lost its turn");
        outcome
    }

    async fn issue_all(&self, period: &str, customers: &[u64]) -> anyhow::Result<usize> {
        for customer in customers {
            self.http
                .post(format!("{}/v1/invoices", self.provider))
                .header("Idempotency-Key", format!("{period}-{customer}"))
                .send()
                .await?
                .error_for_status()?;
        }
        Ok(customers.len())
    }
}
