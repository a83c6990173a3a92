use std::time::Duration;

use anyhow::Context;
use async_nats::jetstream::kv::{Config, CreateErrorKind, Store};
use async_nats::jetstream;
use uuid::Uuid;

/// One replica conducts a partition, the others listen.
pub struct Conductor {
    bucket: Store,
    baton: Uuid,
}

impl Conductor {
    pub async fn open(js: &jetstream::Context) -> anyhow::Result<Self> {
        let bucket = js
            .create_key_value(Config {
                bucket: "conductors".into(),
                history: 1,
                max_age: Duration::from_secs(30),
                ..Default::default()
            })
            .await
            .context("bucket")?;
        Ok(Self {
            bucket,
            baton: Uuid::new_v4(),
        })
    }

    fn key(partition: u32) -> String {
        format!("partition.{partition}.lock")
    }

    /// True when the partition is ours now.
    pub async fn raise(&self, partition: u32) -> anyhow::Result<bool> {
        let body = self.baton.to_string().into();
        match self.bucket.create(Self::key(partition), body).await {
            Ok(_revision) => Ok(true),
            Err(e) if e.kind() == CreateErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    pub async fn lower(&self, partition: u32) -> anyhow::Result<bool> {
        let key = Self::key(partition);
        let Some(now) = self.bucket.get(key.as_str()).await? else {
            return Ok(false);
        };
        if now.as_ref() == self.baton.to_string().as_bytes() {
            self.bucket.purge(key.as_str()).await?;
            return Ok(true);
        }
        Ok(false)
    }
}
