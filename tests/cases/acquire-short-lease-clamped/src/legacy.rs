//! The old cluster's proxy passes EX, but not PX.

use std::time::Duration;

use fred::interfaces::KeysInterface;
use fred::prelude::{RedisError, RedisPool};
use fred::types::{Expiration, SetOptions};

/// Whole seconds, rounded up and never zero.
fn whole_seconds(ttl: Duration) -> i64 {
    let up = ttl.as_millis().div_ceil(1000).max(1);
    i64::try_from(up).unwrap_or(i64::MAX)
}

/// At most one poll of a feed in `ttl`, by whichever instance comes first.
pub async fn first_poller(pool: &RedisPool, feed: &str, ttl: Duration) -> Result<bool, RedisError> {
    let set: Option<String> = pool
        .set(
            format!("feed:{feed}:polled"),
            "1",
            Some(Expiration::EX(whole_seconds(ttl))),
            Some(SetOptions::NX),
            false,
        )
        .await?;
    Ok(set.is_some())
}
