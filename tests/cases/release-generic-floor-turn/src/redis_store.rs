use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, ExistenceCheck, SetExpiry, SetOptions};

use crate::Store;

#[derive(Clone)]
pub struct RedisStore(pub MultiplexedConnection);

#[async_trait::async_trait]
impl Store for RedisStore {
    async fn put_new(&self, name: &str, value: &str, ms: u64) -> anyhow::Result<bool> {
        let opts = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(ms));
        let put: Option<String> = self.0.clone().set_options(name, value, opts).await?;
        Ok(put.is_some())
    }

    async fn remove(&self, name: &str) -> anyhow::Result<()> {
        let _: () = self.0.clone().del(name).await?;
        Ok(())
    }
}
