use redis::aio::MultiplexedConnection;

use crate::lock::try_lock;

/// What builds an index; the lock keeps two of them from running for one tenant.
pub trait Indexer {
    fn build(&self, tenant: u32) -> impl std::future::Future<Output = anyhow::Result<u64>> + Send;
}

pub async fn reindex<I: Indexer>(c: &mut MultiplexedConnection, indexer: &I, tenant: u32) -> anyhow::Result<Option<u64>> {
    let Some(held) = try_lock(c, tenant).await? else {
        tracing::info!(tenant, "is being indexed already");
        return Ok(None);
    };
    tracing::info!(tenant = held.tenant, token = %held.token, "begins");
    let documents = indexer.build(tenant).await?;
    tracing::info!(tenant, documents, "done");
    Ok(Some(documents))
}
