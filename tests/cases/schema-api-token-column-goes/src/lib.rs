use sha2::{Digest, Sha256};
use sqlx::SqlitePool;

fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

pub async fn by_token(db: &SqlitePool, token: &str) -> anyhow::Result<Option<i64>> {
    let id = sqlx::query_scalar("SELECT id FROM devices WHERE access_token_hash = ? AND lock_reason IS NULL")
        .bind(hash(token))
        .fetch_optional(db)
        .await?;
    Ok(id)
}

pub async fn set_token(db: &SqlitePool, device: i64, token: &str) -> anyhow::Result<()> {
    sqlx::query("UPDATE devices SET access_token_hash = ? WHERE id = ?")
        .bind(hash(token))
        .bind(device)
        .execute(db)
        .await?;
    Ok(())
}

pub async fn lock_device(db: &SqlitePool, device: i64, reason: &str) -> anyhow::Result<()> {
    sqlx::query("UPDATE devices SET lock_reason = ? WHERE id = ?")
        .bind(reason)
        .bind(device)
        .execute(db)
        .await?;
    Ok(())
}
