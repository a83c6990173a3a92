mod guard;

use anyhow::Result;
use async_trait::async_trait;
use redis::aio::ConnectionManager;

use guard::PartitionGuard;

#[async_trait]
pub trait Objects: Send + Sync {
    async fn small_files(&self, partition: &str) -> Result<Vec<String>>;
    /// Writes a new object; existing ones are never changed.
    async fn merge(&self, inputs: &[String], output: &str) -> Result<()>;
}

/// Compacts a partition, as much as fits into one lock.
pub async fn compact(
    redis: ConnectionManager,
    objects: &dyn Objects,
    partition: &str,
) -> Result<usize> {
    let Some(guard) = PartitionGuard::lock(redis, partition).await? else {
        return Ok(0);
    };
    let merged = merge_while_valid(&guard, objects, partition).await;
    if !guard.unlock().await? {
        tracing::warn!(partition, "lock ran out");
    }
    merged
}

async fn merge_while_valid(
    guard: &PartitionGuard,
    objects: &dyn Objects,
    partition: &str,
) -> Result<usize> {
    let files = objects.small_files(partition).await?;
    let mut merged = 0;
    for group in files.chunks(16) {
        if !guard.has_time_for_a_group() {
            break;
        }
        objects
            .merge(group, &timeutil::object_name(partition))
            .await?;
        merged += group.len();
    }
    Ok(merged)
}
