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
        let Some(_lock) = RenderLock::take(&self.redis, asset).await? else {
            return Ok(false);
        };
        let original = self
            .bucket
            .get(&Path::from(format!("originals/{asset}")))
            .await?
            .bytes()
            .await?;
        let small = scale(original, width)?;
        self.bucket
            .put(
                &Path::from(format!("thumbs/{asset}-{width}.webp")),
                small.into(),
            )
            .await?;
        Ok(true)
    }
}

fn scale(image: Bytes, width: u32) -> anyhow::Result<Bytes> {
    anyhow::ensure!(width > 0, "width must be positive");
    Ok(image)
}
