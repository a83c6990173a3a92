pub mod floor;
pub mod redis_store;

/// The few operations that a talk needs from its store.
#[async_trait::async_trait]
pub trait Store: Clone + Send + Sync + 'static {
    async fn put_new(&self, name: &str, value: &str, ms: u64) -> anyhow::Result<bool>;
    async fn remove(&self, name: &str) -> anyhow::Result<()>;
}
