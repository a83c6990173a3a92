mod warm;

use std::time::Duration;

use sqlx::PgPool;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let pool = PgPool::connect(&std::env::var("DATABASE_URL")?).await?;
    let redis = redis::Client::open(std::env::var("REDIS_URL")?)?
        .get_connection_manager()
        .await?;
    let refresher = tokio::spawn(warm::refresh_prices(pool.clone(), redis.clone()));
    let mut tick = tokio::time::interval(Duration::from_secs(30));
    loop {
        tick.tick().await;
        if refresher.is_finished() {
            std::process::exit(1);
        }
        if let Err(e) = warm::front_page(&pool, redis.clone()).await {
            tracing::warn!("front page: {e:#}");
        }
    }
}
