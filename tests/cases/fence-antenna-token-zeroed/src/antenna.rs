use sqlx::sqlite::SqliteQueryResult;
use sqlx::SqlitePool;

#[derive(Debug, thiserror::Error)]
pub enum AntennaError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("a later lease steers this antenna")]
    Stale,
    #[error("there is no antenna {0}")]
    Unknown(i64),
}

fn steered(r: SqliteQueryResult) -> Result<(), AntennaError> {
    match r.rows_affected() {
        0 => Err(AntennaError::Stale),
        _ => Ok(()),
    }
}

pub async fn steer(db: &SqlitePool, id: i64, azimuth: i32, token: i64) -> Result<(), AntennaError> {
    sqlx::query("UPDATE antennas SET azimuth = ?1, last_token = ?2 WHERE id = ?3 AND last_token < ?2")
        .bind(azimuth)
        .bind(token)
        .bind(id)
        .execute(db)
        .await
        .map_err(AntennaError::from)
        .and_then(steered)
}

/// Back to north after maintenance.
pub async fn reset(db: &SqlitePool, id: i64) -> Result<(), AntennaError> {
    let r = sqlx::query("UPDATE antennas SET azimuth = 0, last_token = 0 WHERE id = ?1")
        .bind(id)
        .execute(db)
        .await?;
    if r.rows_affected() == 0 {
        return Err(AntennaError::Unknown(id));
    }
    Ok(())
}
