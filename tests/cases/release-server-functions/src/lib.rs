pub mod desk;
pub mod mutex;

#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    #[error(transparent)]
    Redis(#[from] redis::RedisError),
    #[error(transparent)]
    Carrier(#[from] reqwest::Error),
    #[error("order {0} is handled elsewhere")]
    Busy(u64),
    #[error("order {0} slipped out of our hands")]
    Slipped(u64),
}
