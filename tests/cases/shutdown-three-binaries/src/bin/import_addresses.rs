use std::io::BufRead;

use sqlx::PgPool;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let pool = PgPool::connect(&fulfilment::database_url()).await?;
    for line in std::io::stdin().lock().lines() {
        sqlx::query("INSERT INTO address (line) VALUES ($1)")
            .bind(line?)
            .execute(&pool)
            .await?;
    }
    Ok(())
}
