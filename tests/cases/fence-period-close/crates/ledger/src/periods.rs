use anyhow::{bail, ensure};
use lease::Leases;
use sqlx::PgPool;

use crate::sql;

pub struct Periods {
    pool: PgPool,
    leases: Leases,
}

impl Periods {
    pub fn new(pool: PgPool, leases: Leases) -> Self {
        Periods { pool, leases }
    }

    /// Closes a period; whoever was closing it before us is refused.
    pub async fn close(&self, id: i64) -> anyhow::Result<()> {
        let name = format!("period-{id}");
        let Some(lease) = self.leases.take(&name, 30_000).await? else {
            bail!("period {id} is being closed");
        };
        let closed = self.close_with(id, lease.token()).await;
        if !lease.give().await? {
            tracing::warn!(id, "closing outlived its lease");
        }
        closed
    }

    async fn close_with(&self, id: i64, token: i64) -> anyhow::Result<()> {
        let started = sqlx::query(sql::START_CLOSING)
            .bind(id)
            .bind(token)
            .execute(&self.pool)
            .await?
            .rows_affected();
        ensure!(started == 1, "period {id} is closed or in newer hands");

        let balance: i64 = sqlx::query_scalar(sql::BALANCE)
            .bind(id)
            .fetch_one(&self.pool)
            .await?;

        let stored = sqlx::query(sql::STORE_BALANCE)
            .bind(id)
            .bind(token)
            .bind(balance)
            .execute(&self.pool)
            .await?
            .rows_affected();
        ensure!(stored == 1, "period {id} is in newer hands");

        let closed = sqlx::query(sql::MARK_CLOSED)
            .bind(id)
            .execute(&self.pool)
            .await?
            .rows_affected();
        ensure!(closed == 1, "period {id} was not being closed");
        Ok(())
    }
}
