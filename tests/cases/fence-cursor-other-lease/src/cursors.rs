use deadpool_postgres::Pool;

use crate::leases::{end, take, FeedLease};

const ADVANCE: &str = r#"
UPDATE feed_cursors
   SET cursor = $2
 WHERE feed = $1
   AND EXISTS (SELECT 1 FROM feed_leases WHERE fencing_token = $3)
"#;

const CURRENT: &str = "SELECT cursor FROM feed_cursors WHERE feed = $1";

pub trait Source {
    fn after(
        &self,
        feed: &str,
        cursor: &str,
    ) -> impl std::future::Future<Output = anyhow::Result<Option<String>>> + Send;
}

pub struct Reader<S> {
    pool: Pool,
    source: S,
}

impl<S: Source> Reader<S> {
    pub async fn step(&self, feed: &str) -> anyhow::Result<bool> {
        let Some(lease) = take(&self.pool, feed).await? else {
            return Ok(false);
        };
        let moved = self.step_with(&lease).await;
        if !end(&self.pool, lease).await? {
            tracing::warn!(feed, "reading outlived its lease");
        }
        moved
    }

    async fn step_with(&self, lease: &FeedLease) -> anyhow::Result<bool> {
        let client = self.pool.get().await?;
        let cursor: String = client.query_one(CURRENT, &[&lease.feed]).await?.get(0);
        let Some(next) = self.source.after(&lease.feed, &cursor).await? else {
            return Ok(false);
        };
        let n = client
            .execute(ADVANCE, &[&lease.feed, &next, &lease.token])
            .await?;
        anyhow::ensure!(n == 1, "the lease of {} has passed on", lease.feed);
        Ok(true)
    }
}
