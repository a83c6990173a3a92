use sqlx::MySqlPool;

/// Puts transcodes back whose machine has died. Runs every few minutes.
pub async fn sweep(pool: &MySqlPool) -> sqlx::Result<u64> {
    let back = sqlx::query(
        "UPDATE transcodes SET state = 'queued', picked_by = NULL, picked_at = NULL
          WHERE state = 'running' AND picked_at < NOW(6) - INTERVAL 30 MINUTE",
    )
    .execute(pool)
    .await?
    .rows_affected();
    if back > 0 {
        tracing::warn!(back, "transcodes put back");
    }
    Ok(back)
}
