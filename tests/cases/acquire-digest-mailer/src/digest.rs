use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use uuid::Uuid;

use crate::kv::KeyValue;

const SEND_WINDOW: Duration = Duration::from_secs(10 * 60);

pub struct DigestMailer {
    kv: Arc<dyn KeyValue>,
    smtp: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl DigestMailer {
    /// Sends one team's digest unless another instance is at it.
    pub async fn send(&self, team: u64, to: &[Mailbox], body: &str) -> anyhow::Result<usize> {
        let key = format!("digest:team:{team}");
        let stamp = Uuid::new_v4().to_string();
        if !self.kv.put_if_absent(&key, &stamp).await? {
            tracing::debug!(team, "digest is being sent elsewhere");
            return Ok(0);
        }
        self.kv.expire_in(&key, SEND_WINDOW).await?;

        let sent = self.send_all(to, body).await;

        if !self.kv.remove_if_equals(&key, &stamp).await? {
            tracing::warn!(team, "digest took longer than its window");
        }
        sent
    }

    async fn send_all(&self, to: &[Mailbox], body: &str) -> anyhow::Result<usize> {
        for mailbox in to {
            let message = Message::builder()
                .from(self.from.clone())
                .to(mailbox.clone())
                .subject("Your weekly digest")
                .body(body.to_owned())?;
            self.smtp.send(message).await?;
        }
        Ok(to.len())
    }
}
