use std::time::Duration;

use anyhow::{Result, bail};
use deadpool_redis::Pool;
use tokio_util::sync::CancellationToken;

use crate::region_lock::{RegionLock, TTL_SECS};

pub async fn build_region(pool: Pool, region: String) -> Result<()> {
    let lock = RegionLock::new(pool, &region);
    if !lock.acquire().await? {
        log::debug!("{region} is being built elsewhere");
        return Ok(());
    }
    let stop = CancellationToken::new();
    let lost = CancellationToken::new();
    let renewer = tokio::spawn(renew_loop(lock.clone(), stop.clone(), lost.clone()));

    let built = tokio::select! {
        r = render_all(&region) => r,
        _ = lost.cancelled() => Err(anyhow::anyhow!("lost the lock of {region}")),
    };

    stop.cancel();
    let _ = renewer.await;
    match lock.release().await {
        Ok(true) => {}
        Ok(false) => log::warn!("lock of {region} was not ours at the end"),
        Err(e) => log::warn!("release of {region}: {e:#}"),
    }
    built
}

async fn renew_loop(lock: RegionLock, stop: CancellationToken, lost: CancellationToken) {
    let mut errors = 0;
    while !stop.is_cancelled() {
        tokio::select! {
            _ = stop.cancelled() => break,
            _ = tokio::time::sleep(Duration::from_secs(TTL_SECS / 3)) => {}
        }
        match lock.renew().await {
            Ok(true) => errors = 0,
            Ok(false) => {
                lost.cancel();
                break;
            }
            Err(e) => {
                errors += 1;
                log::warn!("renew: {e:#}");
                if errors > 1 {
                    lost.cancel();
                    break;
                }
            }
        }
    }
}

async fn render_all(region: &str) -> Result<()> {
    for zoom in 0..=14u8 {
        let done = tokio::process::Command::new("tile-render")
            .args([region, &zoom.to_string()])
            .kill_on_drop(true)
            .status()
            .await?;
        if !done.success() {
            bail!("zoom level {zoom} of {region}: {done}");
        }
    }
    Ok(())
}
