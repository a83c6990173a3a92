use redis::AsyncCommands;
use redis::aio::ConnectionManager;
use sqlx::PgPool;

pub async fn release(conn: &mut ConnectionManager, job: &str, owner: &str) -> redis::RedisResult<()> {
    let stored: Option<String> = conn.get(format!("job-lock:{job}")).await?;
    if stored.as_deref() == Some(owner) {
        conn.del::<_, ()>(format!("job-lock:{job}")).await?;
    }
    Ok(())
}

pub async fn send(pool: &PgPool, id: i64) -> sqlx::Result<()> {
    let sql = "UPDATE invoices SET state = 'sent' WHERE id = $1";
    sqlx::query(sql).bind(id).execute(pool).await?;
    Ok(())
}
