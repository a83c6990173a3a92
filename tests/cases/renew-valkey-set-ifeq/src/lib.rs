//! Merges supplier feeds. One merger per feed at any time.

use std::time::Duration;

use color_eyre::eyre::{Result, bail};
use redis::aio::ConnectionManager;
use redis::cmd;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(24);
const BEAT: Duration = Duration::from_secs(8);

pub struct FeedLease {
    redis: ConnectionManager,
    key: String,
    id: String,
}

impl FeedLease {
    pub async fn take(mut redis: ConnectionManager, feed: &str) -> Result<Option<FeedLease>> {
        let key = format!("feed:{feed}:merger");
        let id = Uuid::now_v7().to_string();
        let won: Option<String> = cmd("SET")
            .arg(&key)
            .arg(&id)
            .arg("NX")
            .arg("PX")
            .arg(LEASE.as_millis() as u64)
            .query_async(&mut redis)
            .await?;
        Ok(won.map(|_| FeedLease { redis, key, id }))
    }

    async fn prolong(&self) -> Result<bool> {
        let mut redis = self.redis.clone();
        // The server compares the value itself: nil means that we are out.
        let still: Option<String> = cmd("SET")
            .arg(&self.key)
            .arg(&self.id)
            .arg("IFEQ")
            .arg(&self.id)
            .arg("PX")
            .arg(LEASE.as_millis() as u64)
            .query_async(&mut redis)
            .await?;
        Ok(still.is_some())
    }

    pub async fn give_back(mut self) -> Result<bool> {
        let n: i64 = cmd("DELIFEQ")
            .arg(&self.key)
            .arg(&self.id)
            .query_async(&mut self.redis)
            .await?;
        Ok(n == 1)
    }

    async fn beat(&self) -> &'static str {
        let mut tick = interval(BEAT);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick.tick().await;
        let mut bad = 0;
        loop {
            tick.tick().await;
            match self.prolong().await {
                Ok(true) => bad = 0,
                Ok(false) => return "another merger has the feed",
                Err(e) if bad == 0 => {
                    tracing::warn!("prolong {}: {e}", self.key);
                    bad = 1;
                }
                Err(_) => return "redis did not answer twice",
            }
        }
    }
}

pub async fn merge_feed(
    redis: ConnectionManager,
    feed: &str,
    quit: CancellationToken,
) -> Result<()> {
    let Some(lease) = FeedLease::take(redis, feed).await? else {
        return Ok(());
    };
    let result = tokio::select! {
        why = lease.beat() => Err(why),
        _ = quit.cancelled() => Err("shutting down"),
        r = merge(feed) => Ok(r),
    };
    if !lease.give_back().await? {
        tracing::warn!(feed, "lease was not ours any more");
    }
    match result {
        Ok(r) => r,
        Err(why) => bail!("{feed}: {why}"),
    }
}

async fn merge(feed: &str) -> Result<()> {
    tracing::info!(feed, "merging");
    tokio::time::sleep(Duration::from_secs(90)).await;
    Ok(())
}
