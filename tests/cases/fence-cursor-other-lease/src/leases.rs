use deadpool_postgres::Pool;
use uuid::Uuid;

const TAKE: &str = r#"
INSERT INTO feed_leases (feed, holder, fencing_token, expires_at)
VALUES ($1, $2, 1, now() + interval '45 seconds')
ON CONFLICT (feed) DO UPDATE
   SET holder = EXCLUDED.holder,
       fencing_token = feed_leases.fencing_token + 1,
       expires_at = EXCLUDED.expires_at
 WHERE feed_leases.expires_at < now()
RETURNING fencing_token
"#;

const END: &str = r#"
UPDATE feed_leases SET expires_at = now()
 WHERE feed = $1 AND holder = $2
"#;

#[derive(Debug)]
pub struct FeedLease {
    pub feed: String,
    pub token: i64,
    holder: Uuid,
}

pub async fn take(pool: &Pool, feed: &str) -> anyhow::Result<Option<FeedLease>> {
    let holder = Uuid::new_v4();
    let client = pool.get().await?;
    let row = client.query_opt(TAKE, &[&feed, &holder]).await?;
    Ok(row.map(|row| FeedLease {
        feed: feed.to_owned(),
        token: row.get("fencing_token"),
        holder,
    }))
}

pub async fn end(pool: &Pool, lease: FeedLease) -> anyhow::Result<bool> {
    let client = pool.get().await?;
    let n = client.execute(END, &[&lease.feed, &lease.holder]).await?;
    Ok(n == 1)
}
