pub mod cluster_lock;
pub mod config;

use std::future::Future;

use cluster_lock::{ClusterLock, LockError};
use config::LockConfig;
use mysql_async::Pool;

/// Runs `batch` on one node only; `Ok(None)` when another node is at it.
pub async fn exclusively<F, T>(
    pool: &Pool,
    cfg: &LockConfig,
    batch: F,
) -> Result<Option<T>, LockError>
where
    F: Future<Output = T>,
{
    let lock = ClusterLock::new(pool.clone(), cfg.clone());
    if !lock.try_acquire().await? {
        return Ok(None);
    }
    let out = tokio::select! {
        t = batch => Ok(Some(t)),
        e = lock.keep() => Err(e),
    };
    match lock.release().await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(lock = %cfg.name, "released by somebody else"),
        Err(e) => tracing::warn!(lock = %cfg.name, "release: {e}"),
    }
    out
}
