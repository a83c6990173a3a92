pub mod lease;

use anyhow::{Context, Result, ensure};
use deadpool_postgres::Pool;
use tokio_util::sync::CancellationToken;

/// Closes `period` ("2025-06-01"). Only one closer runs in the cluster.
pub async fn close_period(pool: &Pool, period: &str) -> Result<bool> {
    let Some(lease) = lease::take(pool, "ledger-close").await? else {
        return Ok(false);
    };
    let lost = CancellationToken::new();
    let keeper = tokio::spawn(lease::keep(pool.clone(), lease.clone(), lost.clone()));

    let result = tokio::select! {
        r = sum_up(pool, period) => r,
        _ = lost.cancelled() => Err(anyhow::anyhow!("lease lost before {period} was summed up")),
    };
    let result = match result {
        Ok(total) => write_total(pool, period, total, lease.epoch).await,
        Err(e) => Err(e),
    };

    keeper.abort();
    let _ = keeper.await;
    if !lease::give_up(pool, &lease).await? {
        tracing::warn!("ledger-close lease was taken over");
    }
    result.map(|()| true)
}

async fn sum_up(pool: &Pool, period: &str) -> Result<i64> {
    let db = pool.get().await?;
    let row = db
        .query_one(
            "SELECT coalesce(sum(cents), 0)::bigint FROM posting WHERE period = $1::text::date",
            &[&period],
        )
        .await
        .context("summing postings")?;
    Ok(row.get(0))
}

async fn write_total(pool: &Pool, period: &str, total: i64, epoch: i64) -> Result<()> {
    let db = pool.get().await?;
    let n = db
        .execute(
            "UPDATE ledger_period SET closed = true, total_cents = $2, epoch = $3
              WHERE period = $1::text::date AND epoch < $3",
            &[&period, &total, &epoch],
        )
        .await?;
    ensure!(n == 1, "period {period} was closed under a newer lease");
    Ok(())
}
