use std::time::Duration;

use anyhow::Context;
use async_nats::jetstream::kv::{Config, CreateErrorKind, Store};
use async_nats::jetstream::Context as JetStream;

/// Which node broadcasts a channel. The bucket drops entries after half a minute.
pub struct OnAir {
    bucket: Store,
    studio: String,
}

/// The revision under which this node went on air; the value is for people to read.
pub struct Slot {
    key: String,
    revision: u64,
}

impl OnAir {
    pub async fn open(js: &JetStream, studio: impl Into<String>) -> anyhow::Result<Self> {
        let config = Config {
            bucket: "on_air".into(),
            history: 1,
            max_age: Duration::from_secs(30),
            ..Default::default()
        };
        Ok(Self {
            bucket: js.create_key_value(config).await.context("bucket")?,
            studio: studio.into(),
        })
    }

    pub async fn go(&self, channel: &str) -> anyhow::Result<Option<Slot>> {
        let key = format!("channel.{channel}.on_air");
        let who = self.studio.clone().into();
        match self.bucket.create(key.as_str(), who).await {
            Ok(revision) => Ok(Some(Slot { key, revision })),
            Err(e) if e.kind() == CreateErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(e).context("going on air"),
        }
    }

    /// Tells the bucket that we are still there; an error means that we are not.
    pub async fn stay(&self, slot: &mut Slot) -> anyhow::Result<()> {
        let who = self.studio.clone().into();
        slot.revision = self
            .bucket
            .update(slot.key.as_str(), who, slot.revision)
            .await
            .context("off the air")?;
        Ok(())
    }

    pub async fn stop(&self, slot: Slot) -> anyhow::Result<()> {
        self.bucket
            .delete_expect_revision(slot.key.as_str(), Some(slot.revision))
            .await
            .context("off the air")
    }
}
