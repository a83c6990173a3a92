use sqlx::postgres::PgQueryResult;

#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("changed by somebody else since it was read")]
    Conflict,
}

pub trait Outcome {
    fn exactly_one(self) -> Result<(), SaveError>;
}

impl Outcome for PgQueryResult {
    fn exactly_one(self) -> Result<(), SaveError> {
        if self.rows_affected() == 1 {
            Ok(())
        } else {
            Err(SaveError::Conflict)
        }
    }
}
