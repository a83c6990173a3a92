use redis::aio::ConnectionManager;
use sqlx::PgPool;

use crate::crown::Crown;

async fn best(pool: &PgPool, season: i32) -> sqlx::Result<(i64, i64)> {
    sqlx::query_as("SELECT player, SUM(points)::BIGINT FROM results WHERE season = $1 GROUP BY player ORDER BY 2 DESC LIMIT 1")
        .bind(season)
        .fetch_one(pool)
        .await
}

/// Computes the first of a season anew; done by one node for each season.
pub async fn refresh(redis: &ConnectionManager, pool: &PgPool, season: i32) -> anyhow::Result<bool> {
    let Some(crown) = Crown::take(redis, season).await? else {
        return Ok(false);
    };
    let found = best(pool, season).await;
    let mut stored = false;
    if let (Ok((player, points)), true) = (&found, crown.is_held()) {
        sqlx::query("UPDATE leaderboard SET first_player = $2, points = $3 WHERE season = $1")
            .bind(season)
            .bind(player)
            .bind(points)
            .execute(pool)
            .await?;
        stored = true;
    }
    if !crown.abdicate().await? {
        anyhow::bail!("season {season} went to another node");
    }
    found?;
    Ok(stored)
}
