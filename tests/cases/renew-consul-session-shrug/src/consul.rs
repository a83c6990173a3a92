use anyhow::{Result, bail};
use reqwest::{Client, StatusCode};
use serde::Deserialize;
use serde_json::json;

#[derive(Clone)]
pub struct Consul {
    http: Client,
    base: String,
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "ID")]
    id: String,
}

impl Consul {
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            http: Client::new(),
            base: base.into(),
        }
    }

    pub async fn create_session(&self, name: &str, ttl_secs: u32) -> Result<String> {
        let created: Created = self
            .http
            .put(format!("{}/v1/session/create", self.base))
            .json(&json!({ "Name": name, "TTL": format!("{ttl_secs}s"), "Behavior": "delete" }))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        Ok(created.id)
    }

    /// False when Consul does not know the session any more.
    pub async fn renew_session(&self, session: &str) -> Result<bool> {
        let r = self
            .http
            .put(format!("{}/v1/session/renew/{session}", self.base))
            .send()
            .await?;
        match r.status() {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            other => bail!("consul said {other}"),
        }
    }

    pub async fn destroy_session(&self, session: &str) -> Result<()> {
        self.http
            .put(format!("{}/v1/session/destroy/{session}", self.base))
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }

    pub async fn acquire(&self, key: &str, session: &str) -> Result<bool> {
        let text = self
            .http
            .put(format!("{}/v1/kv/{key}?acquire={session}", self.base))
            .body("import")
            .send()
            .await?
            .error_for_status()?
            .text()
            .await?;
        Ok(text.trim() == "true")
    }
}
