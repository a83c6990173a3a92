use sqlx::PgPool;

use crate::host_lock::HostLock;

/// Makes the crawler slower for a host that complains.
pub async fn slow_down(pool: &PgPool, host: &str, factor: i32) -> anyhow::Result<bool> {
    let Some(lock) = HostLock::take(pool, host).await? else {
        return Ok(false);
    };
    let token = lock.token();
    let written = set_delay(pool, host, factor, token).await;
    let in_time = lock.end(pool).await?;
    anyhow::ensure!(written?, "host {host}: token {token} is stale");
    Ok(in_time)
}

async fn set_delay(pool: &PgPool, host: &str, factor: i32, token: i64) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE hosts SET delay_ms = LEAST(delay_ms * $2, 60000), fencing_token = $3
          WHERE name = $1 AND fencing_token < $3",
    )
    .bind(host)
    .bind(factor)
    .bind(token)
    .execute(pool)
    .await?;
    Ok(done.rows_affected() == 1)
}
