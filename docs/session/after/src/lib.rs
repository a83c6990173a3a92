use redis::aio::ConnectionManager;
use sqlx::PgPool;

const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

pub async fn release(conn: &mut ConnectionManager, job: &str, owner: &str) -> redis::RedisResult<bool> {
    let script = redis::Script::new(RELEASE);
    let freed: i64 = script.key(format!("job-lock:{job}")).arg(owner).invoke_async(conn).await?;
    Ok(freed == 1)
}

pub async fn send(pool: &PgPool, id: i64, token: i64) -> sqlx::Result<bool> {
    let sql = "UPDATE invoices SET state = 'sent', fencing_token = $2
               WHERE id = $1 AND fencing_token < $2";
    let done = sqlx::query(sql).bind(id).bind(token).execute(pool).await?;
    Ok(done.rows_affected() == 1)
}
