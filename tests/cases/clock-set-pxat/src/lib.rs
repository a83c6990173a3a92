//! Politeness: one crawler per host at a time.
mod epoch;
mod host_lock;

pub use host_lock::{HostLock, LockError};

use redis::aio::MultiplexedConnection;

pub async fn crawl_host(redis: MultiplexedConnection, host: &str) -> Result<usize, LockError> {
    let Some(lock) = HostLock::acquire(redis, host).await? else {
        return Ok(0);
    };
    let pages = tokio::select! {
        n = fetch_all(host) => Ok(n),
        e = lock.lost() => Err(e),
    };
    if !lock.release().await? {
        tracing::warn!(host, "host lock had another owner");
    }
    pages
}

async fn fetch_all(host: &str) -> usize {
    let mut n = 0;
    for path in ["/", "/sitemap.xml", "/robots.txt"] {
        tracing::debug!(host, path, "fetch");
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        n += 1;
    }
    n
}
