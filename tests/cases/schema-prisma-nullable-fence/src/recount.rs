use std::future::Future;

use crate::segments::Segments;

pub trait Leases {
    /// The token of the lease, higher for every new holder.
    fn acquire(&self, name: String) -> impl Future<Output = anyhow::Result<Option<i64>>> + Send;
    fn release(
        &self,
        name: String,
        token: i64,
    ) -> impl Future<Output = anyhow::Result<bool>> + Send;
}

pub async fn recount<L: Leases>(
    leases: &L,
    segments: &Segments,
    id: &str,
) -> anyhow::Result<Option<i64>> {
    let name = format!("recount:{id}");
    let Some(token) = leases.acquire(name.clone()).await? else {
        return Ok(None);
    };
    let counted = count(segments, id, token).await;
    if !leases.release(name, token).await? {
        tracing::warn!(id, "recount outlived its lease");
    }
    counted.map(Some)
}

async fn count(segments: &Segments, id: &str, token: i64) -> anyhow::Result<i64> {
    let size = segments.members(id).await?;
    anyhow::ensure!(
        segments.set_size(id, size, token).await?,
        "a newer recount wrote {id}"
    );
    Ok(size)
}
