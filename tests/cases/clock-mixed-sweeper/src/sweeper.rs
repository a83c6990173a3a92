use sqlx::PgPool;

/// Puts deliveries of dead senders back into the queue.
pub async fn sweep(pool: &PgPool) -> sqlx::Result<u64> {
    let r = sqlx::query(
        "UPDATE delivery
            SET status = 'queued', claim_id = NULL, lease_expires_at = NULL
          WHERE status = 'running' AND lease_expires_at < now()",
    )
    .execute(pool)
    .await?;
    if r.rows_affected() > 0 {
        tracing::info!(n = r.rows_affected(), "deliveries re-queued");
    }
    Ok(r.rows_affected())
}
