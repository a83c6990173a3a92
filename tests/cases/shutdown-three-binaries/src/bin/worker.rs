use std::time::Duration;

use sqlx::PgPool;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let pool = PgPool::connect(&fulfilment::database_url()).await?;
    let carriers: Vec<String> = std::env::args().skip(1).collect();
    loop {
        for carrier in &carriers {
            if let Err(e) = fulfilment::carrier::serve(&pool, carrier).await {
                tracing::error!(%carrier, "{e:#}");
            }
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
    }
}
