use std::future::Future;
use std::time::Duration;

use bb8_redis::redis::{self, AsyncCommands};
use bb8_redis::RedisConnectionManager;
use rand::distributions::{Alphanumeric, DistString};

use crate::Error;

pub type Pool = bb8::Pool<RedisConnectionManager>;

/// Runs `work` while nobody else runs anything under the same name.
pub async fn with_lock<T, F, Fut>(
    pool: &Pool,
    name: &str,
    ttl: Duration,
    work: F,
) -> Result<T, Error>
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = Result<T, Error>>,
{
    let key = format!("exclusive:{name}");
    let mine = Alphanumeric.sample_string(&mut rand::thread_rng(), 24);

    let mut conn = pool.get().await?;
    let set: bool = redis::cmd("SET")
        .arg(&key)
        .arg(&mine)
        .arg("PX")
        .arg(ttl.as_millis() as u64)
        .arg("NX")
        .query_async::<_, Option<String>>(&mut *conn)
        .await?
        .is_some();
    if !set {
        return Err(Error::Busy);
    }
    drop(conn);

    let out = work().await;

    let mut conn = pool.get().await?;
    let now_held: Option<String> = conn.get(&key).await?;
    if now_held.as_deref() == Some(mine.as_str()) {
        // zero seconds: gone at once
        let _: bool = conn.expire(&key, 0).await?;
    } else {
        tracing::warn!(%key, "ran longer than its lock");
    }
    out
}
