use sqlx::MySqlPool;
use uuid::Uuid;

pub struct FeedReader {
    db: MySqlPool,
    http: reqwest::Client,
}

impl FeedReader {
    /// Makes this call the reader of the feed for a minute, unless it has one.
    async fn begin(&self, feed: u64, reader: &str) -> sqlx::Result<()> {
        sqlx::query(
            "UPDATE feeds SET reader = ?, reader_until = NOW(6) + INTERVAL 60 SECOND \
             WHERE id = ? AND (reader IS NULL OR reader_until < NOW(6))",
        )
        .bind(reader)
        .bind(feed)
        .execute(&self.db)
        .await?;
        Ok(())
    }

    async fn end(&self, feed: u64, reader: &str) -> sqlx::Result<bool> {
        let r = sqlx::query("UPDATE feeds SET reader = NULL, reader_until = NULL WHERE id = ? AND reader = ?")
            .bind(feed)
            .bind(reader)
            .execute(&self.db)
            .await?;
        Ok(r.rows_affected() == 1)
    }

    /// The remote server bans those who fetch a feed twice at once.
    pub async fn read(&self, feed: u64) -> anyhow::Result<String> {
        let reader = Uuid::new_v4().to_string();
        let url: String = sqlx::query_scalar("SELECT url FROM feeds WHERE id = ?")
            .bind(feed)
            .fetch_one(&self.db)
            .await?;
        self.begin(feed, &reader).await?;
        let text = self.http.get(url).send().await?.text().await;
        if !self.end(feed, &reader).await? {
            anyhow::bail!("somebody else has read feed {feed} as well");
        }
        Ok(text?)
    }
}
