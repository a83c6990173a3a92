use serde::Serialize;
use serde_json::Value;
use sqlx::PgPool;

#[derive(Debug, thiserror::Error)]
pub enum FlagError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    #[error("no flag {0:?}, or it is locked")]
    NotChanged(String),
}

#[derive(Debug, Serialize, sqlx::FromRow)]
pub struct Flag {
    pub name: String,
    pub enabled: bool,
    pub min_app_version: String,
    pub generation: i64,
}

#[derive(Clone)]
pub struct Flags {
    pool: PgPool,
}

impl Flags {
    pub fn new(pool: PgPool) -> Self {
        Flags { pool }
    }

    /// What a client of this version may see. Clients poll with the highest
    /// generation they know.
    pub async fn for_client(&self, since: i64) -> Result<Vec<Flag>, FlagError> {
        Ok(sqlx::query_as(
            "SELECT name, enabled, min_app_version, generation FROM flags
              WHERE generation > $1 ORDER BY name",
        )
        .bind(since)
        .fetch_all(&self.pool)
        .await?)
    }

    pub async fn require_app(&self, name: &str, version: &str) -> Result<(), FlagError> {
        sqlx::query(
            "UPDATE flags SET min_app_version = $2, generation = generation + 1 WHERE name = $1",
        )
        .bind(name)
        .bind(version)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    pub async fn switch(&self, name: &str, enabled: bool) -> Result<(), FlagError> {
        let done = sqlx::query(
            "UPDATE flags SET enabled = $2, generation = generation + 1
              WHERE name = $1 AND NOT locked",
        )
        .bind(name)
        .bind(enabled)
        .execute(&self.pool)
        .await?;
        if done.rows_affected() == 0 {
            return Err(FlagError::NotChanged(name.to_owned()));
        }
        Ok(())
    }

    /// Last writer wins; what was there before can be read in the history.
    pub async fn set_payload(
        &self,
        name: &str,
        payload: &Value,
        format_version: i32,
    ) -> Result<(), FlagError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO flag_history (flag, revision, payload)
             SELECT name, generation, payload FROM flags WHERE name = $1",
        )
        .bind(name)
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "UPDATE flags SET payload = $2, format_version = $3, generation = generation + 1
              WHERE name = $1",
        )
        .bind(name)
        .bind(payload)
        .bind(format_version)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn prune(&self, name: &str, keep_from: i64) -> Result<u64, FlagError> {
        let done = sqlx::query("DELETE FROM flag_history WHERE flag = $1 AND revision < $2")
            .bind(name)
            .bind(keep_from)
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }
}
