use anyhow::Context;

use crate::consul::Consul;

const LOCK_KEY: &str = "schema-registry/sync/lock";

pub struct SchemaSync {
    consul: Consul,
    http: reqwest::Client,
    registry: String,
}

impl SchemaSync {
    pub fn new(consul: Consul, registry: String) -> Self {
        SchemaSync {
            consul,
            http: reqwest::Client::new(),
            registry,
        }
    }

    /// Registers every subject; one instance at a time.
    pub async fn sync(&self, subjects: &[(String, String)]) -> anyhow::Result<usize> {
        let session = self.consul.session("schema-sync").await?;
        session.acquire(LOCK_KEY).await?;

        let registered = self.register_all(subjects).await;

        session.release(LOCK_KEY).await?;
        session.destroy().await?;
        registered
    }

    async fn register_all(&self, subjects: &[(String, String)]) -> anyhow::Result<usize> {
        for (subject, schema) in subjects {
            self.http
                .post(format!("{}/subjects/{subject}/versions", self.registry))
                .body(schema.clone())
                .send()
                .await?
                .error_for_status()
                .with_context(|| format!("subject {subject}"))?;
        }
        tracing::info!(count = subjects.len(), "schemas registered");
        Ok(subjects.len())
    }
}
