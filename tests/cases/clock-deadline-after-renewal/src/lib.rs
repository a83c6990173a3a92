mod lease;

use eyre::{Result, bail};
use lease::RegionLease;
use sqlx::PgPool;
use tokio::time::{Instant, sleep_until};

/// Sends set points to the plants of a region until the lease is over.
pub async fn control(pool: PgPool, region: &str) -> Result<()> {
    let Some(lease) = RegionLease::take(pool, region).await? else {
        return Ok(());
    };
    let mut ends = lease.ends();
    let result = tokio::select! {
        r = balance(region) => r,
        r = lease.keep() => r,
        _ = async {
            loop {
                let at: Instant = *ends.borrow_and_update();
                tokio::select! {
                    _ = sleep_until(at) => break,
                    _ = ends.changed() => {}
                }
            }
        } => Err(eyre::eyre!("lease of {region} was not renewed in time")),
    };
    if !lease.give_back().await? {
        tracing::warn!(region, "another controller has the region");
    }
    result
}

async fn balance(region: &str) -> Result<()> {
    loop {
        let out = tokio::process::Command::new("setpoints")
            .arg(region)
            .kill_on_drop(true)
            .status()
            .await?;
        if !out.success() {
            bail!("setpoints {region}: {out}");
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
}
