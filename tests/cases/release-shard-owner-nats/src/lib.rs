pub mod bucket;
pub mod shards;

#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    #[error("bucket: {0}")]
    Bucket(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("shard {0} belongs to somebody else")]
    NotOurs(u16),
}

impl KeeperError {
    pub fn bucket<E: std::error::Error + Send + Sync + 'static>(e: E) -> Self {
        KeeperError::Bucket(Box::new(e))
    }
}
