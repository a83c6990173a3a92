mod shard_lock;

use std::time::Duration;

use anyhow::Result;
use sqlx::MySqlPool;

pub async fn index_shard(pool: &MySqlPool, shard: u32) -> Result<bool> {
    let Some(lock) = shard_lock::ShardLock::take(pool.clone(), shard).await? else {
        return Ok(false);
    };
    let result = tokio::select! {
        r = run_indexer(shard) => r,
        _ = keep(&lock) => Err(anyhow::anyhow!("shard {shard} is no longer ours")),
    };
    if !lock.free().await? {
        tracing::warn!(shard, "freed by another indexer");
    }
    result.map(|()| true)
}

/// Comes back when the lock cannot be kept.
async fn keep(lock: &shard_lock::ShardLock) {
    let mut failures = 0;
    while failures < 2 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        match lock.extend().await {
            Ok(true) => failures = 0,
            Ok(false) => break,
            Err(e) => {
                tracing::warn!("extend: {e:#}");
                failures += 1;
            }
        }
    }
}

async fn run_indexer(shard: u32) -> Result<()> {
    let status = tokio::process::Command::new("indexer")
        .args(["--shard", &shard.to_string()])
        .kill_on_drop(true)
        .status()
        .await?;
    anyhow::ensure!(status.success(), "indexer of shard {shard}: {status}");
    Ok(())
}
