mod lease;

use anyhow::Result;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use sqlx::PgPool;
use tokio::sync::watch;

pub struct Mailer {
    pub pool: PgPool,
    pub smtp: AsyncSmtpTransport<Tokio1Executor>,
}

impl Mailer {
    pub async fn weekly_digest(&self) -> Result<usize> {
        let holder = ulid::Ulid::new().to_string();
        if !lease::take(&self.pool, "weekly-digest", &holder).await? {
            return Ok(0);
        }
        let (alive_tx, mut alive) = watch::channel(true);
        let heartbeat = tokio::spawn(lease::heartbeat(
            self.pool.clone(),
            "weekly-digest",
            holder.clone(),
            alive_tx,
        ));

        let sent = tokio::select! {
            n = self.send_all() => n,
            _ = alive.wait_for(|a| !*a) => Err(anyhow::anyhow!("digest lease lost")),
        };

        match lease::let_go(&self.pool, "weekly-digest", &holder).await {
            Ok(true) => tracing::debug!("digest lease let go"),
            Ok(false) => tracing::warn!("digest lease was not ours"),
            Err(e) => tracing::warn!("letting go of the digest lease: {e}"),
        }
        heartbeat.abort();
        sent
    }

    async fn send_all(&self) -> Result<usize> {
        let readers: Vec<(String,)> =
            sqlx::query_as("SELECT email FROM reader WHERE digest ORDER BY email")
                .fetch_all(&self.pool)
                .await?;
        for (email,) in &readers {
            let mail = Message::builder()
                .from("Digest <digest@example.org>".parse()?)
                .to(email.parse()?)
                .subject("Your week")
                .body("…".to_string())?;
            self.smtp.send(mail).await?;
        }
        Ok(readers.len())
    }
}
