use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::ObjectStore;
use rustis::client::Client;
use uuid::Uuid;

use crate::guard::RenderLock;

pub struct Renderer {
    redis: Client,
    bucket: Arc<dyn ObjectStore>,
}

impl Renderer {
    pub async fn thumbnail(&self, asset: Uuid, width: u32) -> anyhow::Result<bool> {
        let Some(lock) = RenderLock::take(&self.redis, asset).await? else {
            return Ok(false);
        };
        let made = self.make(asset, width).await;
        if !lock.release().await? {
            tracing::warn!(%asset, "lock ran out while rendering");
        }
        made.map(|()| true)
    }

    async fn make(&self, asset: Uuid, width: u32) -> anyhow::Result<()> {
        let original = self
            .bucket
            .get(&Path::from(format!("originals/{asset}")))
            .await?
            .bytes()
            .await?;
        let small: Bytes = original.slice(..original.len().min(width as usize * 64));
        self.bucket
            .put(
                &Path::from(format!("thumbs/{asset}-{width}.webp")),
                small.into(),
            )
            .await?;
        Ok(())
    }
}
