use std::time::{SystemTime, UNIX_EPOCH};

use redis::AsyncCommands;
use redis::aio::ConnectionManager;

/// At most `max` requests per address and minute.
pub async fn allow(
    redis: &mut ConnectionManager,
    addr: &str,
    max: u32,
) -> redis::RedisResult<bool> {
    let minute = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
        / 60;
    let key = format!("limit:{addr}:{minute}");
    let n: u32 = redis.incr(&key, 1).await?;
    if n == 1 {
        redis
            .expire_at::<_, ()>(&key, (minute as i64 + 2) * 60)
            .await?;
    }
    Ok(n <= max)
}
