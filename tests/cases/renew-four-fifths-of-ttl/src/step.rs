use std::process::Stdio;
use std::time::Duration;

use eyre::{Result, bail};
use tokio::process::Command;

use crate::mutex::RemoteMutex;

/// Transcodes `asset`, unless another node does so already.
pub async fn transcode(mutex: &dyn RemoteMutex, asset: &str) -> Result<bool> {
    let Some(held) = mutex
        .try_lock(&format!("asset/{asset}"), Duration::from_secs(45))
        .await?
    else {
        return Ok(false);
    };
    let lost = held.lost.clone();
    let run = async {
        let status = Command::new("ffmpeg")
            .args(["-i", asset, "-c:v", "libx265", "/scratch/out.mp4"])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .status()
            .await?;
        if !status.success() {
            bail!("ffmpeg: {status}");
        }
        Ok(())
    };
    let result = lost.run_until_cancelled(run).await;
    if !mutex.unlock(held).await? {
        tracing::warn!(asset, "mutex was lost");
    }
    match result {
        Some(r) => r.map(|()| true),
        None => bail!("lost the mutex of {asset}"),
    }
}
