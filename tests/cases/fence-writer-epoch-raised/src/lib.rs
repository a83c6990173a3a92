pub mod lease;
pub mod projection;
mod statements;

#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    #[error(transparent)]
    Sql(#[from] tokio_postgres::Error),
    #[error("another writer has taken over")]
    Superseded,
}
