use std::time::Duration;

use acme_kv::{Key, Kv};
use uuid::Uuid;

use crate::invoices::{InvoiceRequest, Provider};

const RUN_TTL: Duration = Duration::from_secs(15 * 60);

pub struct OpenRun {
    key: Key,
    stamp: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Closed {
    Clean,
    TakenOver,
    Expired,
}

pub struct BillingRuns {
    kv: Kv,
    env: String,
    provider: Provider,
}

impl BillingRuns {
    fn run_key(&self, period: &str) -> Key {
        Key::new(&self.env, &["billing", "run", period])
    }

    /// One run per period at a time, over all instances.
    pub async fn open(&self, period: &str) -> anyhow::Result<Option<OpenRun>> {
        let run = OpenRun {
            key: self.run_key(period),
            stamp: Uuid::new_v4().to_string(),
        };
        let ours = self.kv.put_new(&run.key, &run.stamp, RUN_TTL).await?;
        Ok(ours.then_some(run))
    }

    pub async fn close(&self, run: OpenRun) -> anyhow::Result<Closed> {
        let current = self.kv.fetch(&run.key).await?;
        match current {
            Some(stamp) if stamp == run.stamp => {
                self.kv.evict(&run.key).await?;
                Ok(Closed::Clean)
            }
            Some(other) => {
                tracing::warn!(%other, "billing run was taken over");
                Ok(Closed::TakenOver)
            }
            None => Ok(Closed::Expired),
        }
    }

    pub async fn bill(&self, period: &str, customers: &[u64]) -> anyhow::Result<usize> {
        let Some(run) = self.open(period).await? else {
            tracing::info!(period, "another instance is billing");
            return Ok(0);
        };
        let outcome = self.issue_all(period, customers).await;
        let closed = self.close(run).await?;
        tracing::info!(?closed, period, "billing run closed");
        outcome
    }

    async fn issue_all(&self, period: &str, customers: &[u64]) -> anyhow::Result<usize> {
        let mut issued = 0;
        for customer in customers {
            self.provider
                .issue(&InvoiceRequest {
                    customer: *customer,
                    period: period.to_owned(),
                    idempotency_key: format!("{period}-{customer}"),
                })
                .await?;
            issued += 1;
        }
        Ok(issued)
    }
}
