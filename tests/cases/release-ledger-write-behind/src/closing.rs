use redis::aio::ConnectionManager;
use sqlx::SqlitePool;

use crate::seal::Seal;

async fn sum_of(db: &SqlitePool, day: &str) -> anyhow::Result<i64> {
    let sum: i64 = sqlx::query_scalar("SELECT COALESCE(SUM(amount), 0) FROM postings WHERE day = ?")
        .bind(day)
        .fetch_one(db)
        .await?;
    Ok(sum)
}

/// Computes the total of a day and stores it. Two closings of one day must not overlap.
pub async fn close_day(redis: &ConnectionManager, db: &SqlitePool, day: &str) -> anyhow::Result<()> {
    let Some(seal) = Seal::put(redis, &format!("closing:{day}"), 30_000).await? else {
        anyhow::bail!("{day} is being closed already");
    };
    let total = sum_of(db, day).await;
    if !seal.break_it().await? {
        anyhow::bail!("the seal on {day} ran out");
    }
    sqlx::query("UPDATE ledgers SET closed_total = ?, closed = 1 WHERE day = ?")
        .bind(total?)
        .bind(day)
        .execute(db)
        .await?;
    Ok(())
}
