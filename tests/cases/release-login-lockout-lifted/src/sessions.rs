use sqlx::PgPool;
use uuid::Uuid;

pub async fn log_out(pool: &PgPool, session: Uuid) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM sessions WHERE token = $1")
        .bind(session)
        .execute(pool)
        .await?;
    Ok(())
}

pub async fn lock_account(pool: &PgPool, account: i64, why: &str) -> sqlx::Result<()> {
    sqlx::query("UPDATE accounts SET locked_at = now(), locked_by = $2 WHERE id = $1")
        .bind(account)
        .bind(why)
        .execute(pool)
        .await?;
    Ok(())
}

pub async fn unlock_account(pool: &PgPool, account: i64) -> sqlx::Result<()> {
    sqlx::query("UPDATE accounts SET locked_at = NULL, locked_by = NULL WHERE id = $1")
        .bind(account)
        .execute(pool)
        .await?;
    Ok(())
}
