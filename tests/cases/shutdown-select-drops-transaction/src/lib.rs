//! Enters the payouts of one currency. `cancel` is tied to SIGTERM by the binary.
mod lease;

use anyhow::Result;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

pub async fn payout_run(pool: &PgPool, currency: &str, cancel: &CancellationToken) -> Result<()> {
    let Some(lease) = lease::take(pool, currency).await? else {
        tracing::info!(currency, "another instance pays out");
        return Ok(());
    };

    let outcome = tokio::select! {
        r = enter_payouts(pool, currency) => r,
        e = lease::keep(pool, &lease) => Err(e),
        _ = cancel.cancelled() => {
            tracing::info!(currency, "stopping");
            Ok(())
        }
    };

    if !lease::release(pool, &lease).await? {
        tracing::warn!(currency, "lease was lost");
    }
    outcome
}

async fn enter_payouts(pool: &PgPool, currency: &str) -> Result<()> {
    let due: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT merchant, sum(cents)::bigint FROM sale WHERE currency = $1 AND NOT paid GROUP BY merchant",
    )
    .bind(currency)
    .fetch_all(pool)
    .await?;

    let mut tx = pool.begin().await?;
    for (merchant, cents) in due {
        sqlx::query("INSERT INTO payout (merchant, currency, cents) VALUES ($1, $2, $3)")
            .bind(merchant)
            .bind(currency)
            .bind(cents)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(())
}
