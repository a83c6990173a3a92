pub mod lease;
pub mod projection;

#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    #[error("another writer has taken over")]
    Superseded,
}
