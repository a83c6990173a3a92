pub mod booth;
mod kv;

pub use kv::Kv;

#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    #[error("pool: {0}")]
    Pool(#[from] deadpool_redis::PoolError),
    #[error("redis: {0}")]
    Redis(#[from] deadpool_redis::redis::RedisError),
    #[error("somebody else trades here")]
    Occupied,
    #[error("the ticket is no longer valid")]
    Expired,
}
