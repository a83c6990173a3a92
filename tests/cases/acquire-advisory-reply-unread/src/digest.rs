use sqlx::postgres::PgConnection;
use sqlx::{Connection, Row};

const DIGEST: i64 = 30_417;

#[derive(Clone)]
pub struct Digest {
    url: String,
    mailer: String,
    http: reqwest::Client,
}

impl Digest {
    pub fn new(url: String, mailer: String) -> Self {
        Self {
            url,
            mailer,
            http: reqwest::Client::new(),
        }
    }

    async fn subscribers(&self, conn: &mut PgConnection) -> anyhow::Result<Vec<String>> {
        let rows = sqlx::query("SELECT mail FROM subscribers WHERE confirmed ORDER BY mail")
            .fetch_all(conn)
            .await?;
        Ok(rows.iter().map(|r| r.get("mail")).collect())
    }

    async fn send(&self, to: &str) -> anyhow::Result<()> {
        self.http
            .post(&self.mailer)
            .json(&[("to", to), ("template", "weekly")])
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }

    /// Started by cron on every replica; only one of them may send.
    pub async fn weekly(&self) -> anyhow::Result<usize> {
        let mut conn = PgConnection::connect(&self.url).await?;
        sqlx::query("SELECT pg_try_advisory_lock($1)")
            .bind(DIGEST)
            .execute(&mut conn)
            .await?;
        let list = self.subscribers(&mut conn).await?;
        for mail in &list {
            self.send(mail).await?;
        }
        // ends the session and with it the lock
        conn.close().await?;
        Ok(list.len())
    }
}
