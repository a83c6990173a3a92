use sqlx::PgPool;

#[derive(Debug, thiserror::Error)]
pub enum ValveError {
    #[error(transparent)]
    Sql(sqlx::Error),
    #[error("a newer controller has taken over")]
    Stale,
    #[error("no valve {0}")]
    Unknown(i64),
}

impl From<sqlx::Error> for ValveError {
    fn from(error: sqlx::Error) -> Self {
        let stale = error
            .as_database_error()
            .and_then(|e| e.code())
            .is_some_and(|code| code == "LL001");
        if stale {
            ValveError::Stale
        } else {
            ValveError::Sql(error)
        }
    }
}

#[derive(Clone)]
pub struct Valves {
    pool: PgPool,
}

impl Valves {
    pub fn new(pool: PgPool) -> Self {
        Valves { pool }
    }

    pub async fn opening(&self, id: i64) -> Result<i32, ValveError> {
        sqlx::query_scalar("SELECT opening FROM valves WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(ValveError::Unknown(id))
    }

    /// The database's trigger compares the token with the row's.
    pub async fn set_opening(&self, id: i64, opening: i32, token: i64) -> Result<(), ValveError> {
        let done = sqlx::query("UPDATE valves SET opening = $2, fencing_token = $3 WHERE id = $1")
            .bind(id)
            .bind(opening)
            .bind(token)
            .execute(&self.pool)
            .await?;
        if done.rows_affected() == 0 {
            return Err(ValveError::Unknown(id));
        }
        Ok(())
    }
}
