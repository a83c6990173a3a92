use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "ID")]
    id: String,
}

#[derive(Clone)]
pub struct Consul {
    http: reqwest::Client,
    base: String,
}

pub struct Session {
    consul: Consul,
    id: String,
}

impl Consul {
    pub fn new(base: impl Into<String>) -> Self {
        Consul {
            http: reqwest::Client::new(),
            base: base.into(),
        }
    }

    pub async fn session(&self, name: &str) -> anyhow::Result<Session> {
        let created: Created = self
            .http
            .put(format!("{}/v1/session/create", self.base))
            .json(&json!({ "Name": name, "TTL": "60s", "Behavior": "release" }))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        Ok(Session {
            consul: self.clone(),
            id: created.id,
        })
    }

    async fn put(&self, path_and_query: &str, body: String) -> anyhow::Result<()> {
        self.http
            .put(format!("{}/v1/{path_and_query}", self.base))
            .body(body)
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}

impl Session {
    pub async fn acquire(&self, key: &str) -> anyhow::Result<()> {
        let path = format!("kv/{key}?acquire={}", self.id);
        self.consul.put(&path, self.id.clone()).await
    }

    pub async fn release(&self, key: &str) -> anyhow::Result<()> {
        let path = format!("kv/{key}?release={}", self.id);
        self.consul.put(&path, String::new()).await
    }

    pub async fn destroy(self) -> anyhow::Result<()> {
        let path = format!("session/destroy/{}", self.id);
        self.consul.put(&path, String::new()).await
    }
}
