use sqlx::PgPool;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let pool = PgPool::connect(&fulfilment::database_url()).await?;
    let rows: Vec<(String, bool)> =
        sqlx::query_as("SELECT carrier, until > now() FROM carrier_lease ORDER BY carrier")
            .fetch_all(&pool)
            .await?;
    for (carrier, served) in rows {
        println!("{carrier}\t{}", if served { "served" } else { "idle" });
    }
    Ok(())
}
