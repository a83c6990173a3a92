use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use crate::kv::KeyValue;

const SEND_WINDOW: Duration = Duration::from_secs(10 * 60);
const PER_MINUTE: i64 = 300;

pub struct DigestMailer<K: KeyValue> {
    kv: K,
    http: reqwest::Client,
    mail_api: String,
}

impl<K: KeyValue> DigestMailer<K> {
    pub fn new(kv: K, mail_api: String) -> Self {
        DigestMailer {
            kv,
            http: reqwest::Client::new(),
            mail_api,
        }
    }

    pub async fn send(&self, team: u64, to: &[String], body: &str) -> anyhow::Result<usize> {
        let key = format!("digest:team:{team}");
        let stamp = Uuid::new_v4().to_string();
        if !self.kv.put_if_absent(&key, &stamp, SEND_WINDOW).await? {
            return Ok(0);
        }
        let sent = self.send_all(to, body).await;
        if !self.kv.remove_if_equals(&key, &stamp).await? {
            tracing::warn!(team, "digest took longer than its window");
        }
        sent
    }

    async fn send_all(&self, to: &[String], body: &str) -> anyhow::Result<usize> {
        for (n, address) in to.iter().enumerate() {
            let used = self
                .kv
                .count_in("digest:mails-per-minute", Duration::from_secs(60))
                .await?;
            if used > PER_MINUTE {
                return Ok(n);
            }
            self.http
                .post(&self.mail_api)
                .json(&json!({ "to": address, "text": body }))
                .send()
                .await?
                .error_for_status()?;
        }
        Ok(to.len())
    }
}
