use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

pub const KV: &str = "ticket-router/leader";
const TTL_SECS: u64 = 15;

#[derive(Serialize, Deserialize)]
pub struct LeaderInfo {
    pub node: String,
    /// Shown on the status page.
    pub since_unix: i64,
    pub valid_until_hint: i64,
}

#[derive(Clone)]
pub struct Leader {
    pub http: Client,
    pub base: String,
    pub node: String,
}

impl Leader {
    pub async fn session(&self) -> Result<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Reply {
            #[serde(rename = "ID")]
            id: String,
        }
        let body = serde_json::json!({ "Name": "ticket-router", "TTL": format!("{TTL_SECS}s"), "LockDelay": "15s" });
        let reply = self
            .http
            .put(format!("{}/v1/session/create", self.base))
            .json(&body)
            .send()
            .await?;
        Ok(reply.error_for_status()?.json::<Reply>().await?.id)
    }

    pub async fn acquire(&self, session: &str) -> Result<bool> {
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let info = LeaderInfo {
            node: self.node.clone(),
            since_unix: now,
            valid_until_hint: now + TTL_SECS as i64,
        };
        let url = format!("{}/v1/kv/{KV}?acquire={session}", self.base);
        let reply = self
            .http
            .put(url)
            .json(&info)
            .send()
            .await?
            .error_for_status()?;
        Ok(reply.json::<bool>().await?)
    }

    /// Keeps the session; comes back when it is lost.
    pub async fn keep(&self, session: &str) -> anyhow::Error {
        let url = format!("{}/v1/session/renew/{session}", self.base);
        let mut failed_before = false;
        loop {
            tokio::time::sleep(Duration::from_secs(TTL_SECS / 3)).await;
            let reply = self
                .http
                .put(&url)
                .timeout(Duration::from_secs(2))
                .send()
                .await;
            match reply.map(|r| r.status()) {
                Ok(s) if s.is_success() => failed_before = false,
                Ok(StatusCode::NOT_FOUND) => return anyhow::anyhow!("session {session} has ended"),
                other if failed_before => return anyhow::anyhow!("session renewal: {other:?}"),
                other => {
                    tracing::warn!("session renewal: {other:?}");
                    failed_before = true;
                }
            }
        }
    }

    pub async fn release(&self, session: &str) -> Result<()> {
        let url = format!("{}/v1/kv/{KV}?release={session}", self.base);
        let released: bool = self
            .http
            .put(url)
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        ensure!(released, "the key was not held by {session}");
        Ok(())
    }
}
