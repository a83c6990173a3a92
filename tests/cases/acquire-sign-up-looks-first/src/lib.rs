use sqlx::PgPool;
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum SignUpError {
    #[error(transparent)]
    Db(sqlx::Error),
    #[error("the name {0} is taken")]
    Taken(String),
}

impl SignUpError {
    fn of(handle: &str, e: sqlx::Error) -> Self {
        match e.as_database_error() {
            Some(d) if d.is_unique_violation() => SignUpError::Taken(handle.to_owned()),
            _ => SignUpError::Db(e),
        }
    }
}

pub struct Members {
    pool: PgPool,
}

impl Members {
    pub async fn is_free(&self, handle: &str) -> Result<bool, SignUpError> {
        let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM members WHERE lower(handle) = lower($1))")
            .bind(handle)
            .fetch_one(&self.pool)
            .await
            .map_err(SignUpError::Db)?;
        Ok(!taken)
    }

    pub async fn sign_up(&self, handle: &str, mail: &str) -> Result<Uuid, SignUpError> {
        if !self.is_free(handle).await? {
            return Err(SignUpError::Taken(handle.to_owned()));
        }
        let id = Uuid::new_v4();
        sqlx::query("INSERT INTO members (id, handle, mail) VALUES ($1, $2, $3)")
            .bind(id)
            .bind(handle)
            .bind(mail)
            .execute(&self.pool)
            .await
            .map_err(|e| SignUpError::of(handle, e))?;
        Ok(id)
    }

    pub async fn confirm(&self, id: Uuid) -> Result<(), SignUpError> {
        sqlx::query("UPDATE members SET state = 'active' WHERE id = $1")
            .bind(id)
            .execute(&self.pool)
            .await
            .map_err(SignUpError::Db)?;
        Ok(())
    }
}
