use fred::prelude::RedisPool;

use crate::config::FeedConfig;
use crate::cursor_lease::CursorLease;

pub struct Poller {
    pool: RedisPool,
    http: reqwest::Client,
    config: FeedConfig,
}

impl Poller {
    /// One page of the feed, or nothing if another poller is reading it.
    pub async fn page(&self, feed: &str) -> anyhow::Result<Option<String>> {
        let Some(lease) = CursorLease::take(&self.pool, feed, &self.config).await? else {
            return Ok(None);
        };
        let page = self.read(feed).await;
        if !lease.let_go().await? {
            tracing::debug!(feed, "slow page");
        }
        page.map(Some)
    }

    async fn read(&self, feed: &str) -> anyhow::Result<String> {
        let url = format!("{}/{feed}/next", self.config.url);
        Ok(self.http.get(url).send().await?.text().await?)
    }
}
