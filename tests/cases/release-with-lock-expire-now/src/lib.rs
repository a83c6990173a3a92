pub mod exclusive;
pub mod reindex;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("busy")]
    Busy,
    #[error(transparent)]
    Redis(#[from] bb8_redis::redis::RedisError),
    #[error("pool: {0}")]
    Pool(#[from] bb8::RunError<bb8_redis::redis::RedisError>),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}
