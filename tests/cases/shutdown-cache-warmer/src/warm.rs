use std::time::Duration;

use anyhow::Result;
use redis::AsyncCommands;
use redis::aio::ConnectionManager;
use serde::Serialize;
use sqlx::PgPool;

const PAGE: &str = "cache:front-page";
const PAGE_SECS: u64 = 90;

#[derive(Serialize, sqlx::FromRow)]
struct Teaser {
    id: i64,
    title: String,
}

/// Every warmer writes the same page, the last one wins.
pub async fn front_page(pool: &PgPool, mut redis: ConnectionManager) -> Result<()> {
    let teasers: Vec<Teaser> =
        sqlx::query_as("SELECT id, title FROM article ORDER BY published_at DESC LIMIT 20")
            .fetch_all(pool)
            .await?;
    let old: Option<String> = redis.get(PAGE).await?;
    let new = serde_json::to_string(&teasers)?;
    if old.as_deref() == Some(new.as_str()) {
        redis.expire::<_, ()>(PAGE, PAGE_SECS as i64).await?;
    } else {
        redis.set_ex::<_, _, ()>(PAGE, new, PAGE_SECS).await?;
    }
    Ok(())
}

/// Follows the price feed table; ends only when the database is gone.
pub async fn refresh_prices(pool: PgPool, mut redis: ConnectionManager) {
    let mut last = 0i64;
    loop {
        let rows: Vec<(i64, String, i64)> = match sqlx::query_as(
            "SELECT seq, sku, cents FROM price_feed WHERE seq > $1 ORDER BY seq LIMIT 500",
        )
        .bind(last)
        .fetch_all(&pool)
        .await
        {
            Ok(rows) => rows,
            Err(e) => {
                tracing::error!("price feed: {e}");
                return;
            }
        };
        for (seq, sku, cents) in &rows {
            let key = format!("price:{sku}");
            if let Err(e) = redis.set_ex::<_, _, ()>(&key, cents, 3_600).await {
                tracing::warn!("{key}: {e}");
            }
            last = *seq;
        }
        if rows.is_empty() {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}
