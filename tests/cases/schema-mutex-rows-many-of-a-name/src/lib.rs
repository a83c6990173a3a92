use sqlx::MySqlPool;
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum MutexError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("{0} was lost")]
    Lost(String),
}

/// Locks by name for all programs that use this database.
#[derive(Clone)]
pub struct Mutexes {
    pool: MySqlPool,
}

impl Mutexes {
    /// The owner value when the name was free.
    pub async fn lock(&self, name: &str) -> Result<Option<String>, MutexError> {
        let owner = Uuid::new_v4().to_string();
        let put = sqlx::query(
            "INSERT IGNORE INTO mutexes (lock_name, owner, expires_at) VALUES (?, ?, NOW(6) + INTERVAL 30 SECOND)",
        )
        .bind(name)
        .bind(&owner)
        .execute(&self.pool)
        .await?;
        Ok((put.rows_affected() == 1).then_some(owner))
    }

    pub async fn unlock(&self, name: &str, owner: &str) -> Result<(), MutexError> {
        let gone = sqlx::query("DELETE FROM mutexes WHERE lock_name = ? AND owner = ?")
            .bind(name)
            .bind(owner)
            .execute(&self.pool)
            .await?;
        if gone.rows_affected() == 0 {
            return Err(MutexError::Lost(name.to_string()));
        }
        Ok(())
    }

    pub async fn expire(&self) -> Result<u64, MutexError> {
        let r = sqlx::query("DELETE FROM mutexes WHERE expires_at < NOW(6)")
            .execute(&self.pool)
            .await?;
        Ok(r.rows_affected())
    }
}
