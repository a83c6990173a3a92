use anyhow::{bail, ensure};
use tokio_postgres::Client;

use crate::locks::SkuLocks;

pub struct Stock {
    db: Client,
    locks: SkuLocks,
}

impl Stock {
    /// Sets the counted number of pieces after a stock-taking.
    pub async fn counted(&self, sku: &str, warehouse: i64, pieces: i64) -> anyhow::Result<()> {
        let Some(lock) = self.locks.lock(sku).await? else {
            bail!("{sku} is being counted");
        };
        let written = self.write(sku, warehouse, pieces, lock.token).await;
        if !self.locks.unlock(lock).await? {
            tracing::warn!(sku, "counting outlived its lock");
        }
        written
    }

    async fn write(
        &self,
        sku: &str,
        warehouse: i64,
        pieces: i64,
        token: i64,
    ) -> anyhow::Result<()> {
        let n = self
            .db
            .execute(
                "UPDATE stock SET pieces = $3, fencing_token = $4
                  WHERE sku = $1 AND warehouse = $2 AND fencing_token < $4",
                &[&sku, &warehouse, &pieces, &token],
            )
            .await?;
        ensure!(n == 1, "{sku} in {warehouse}: a newer count is there");
        Ok(())
    }
}
