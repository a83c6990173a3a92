use sqlx::PgPool;

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error("the canal is steered by a later keeper")]
    Stale,
    #[error("there is no gate {0}")]
    Unknown(i64),
    #[error(transparent)]
    Db(sqlx::Error),
}

impl From<sqlx::Error> for GateError {
    fn from(e: sqlx::Error) -> Self {
        match e.as_database_error().and_then(|d| d.code()) {
            Some(c) if c == "FE001" => GateError::Stale,
            _ => GateError::Db(e),
        }
    }
}

/// The table's trigger refuses a fence that is not newer.
pub async fn move_gate(pool: &PgPool, gate: i64, position: i32, fence: i64) -> Result<(), GateError> {
    let r = sqlx::query("UPDATE lock_gates SET position = $2, fence = $3 WHERE id = $1")
        .bind(gate)
        .bind(position)
        .bind(fence)
        .execute(pool)
        .await?;
    if r.rows_affected() == 0 {
        return Err(GateError::Unknown(gate));
    }
    Ok(())
}
