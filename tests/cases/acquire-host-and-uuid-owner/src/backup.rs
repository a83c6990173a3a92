use redis::aio::ConnectionManager;
use tokio::process::Command;

use crate::lease::VolumeLease;

pub async fn back_up(conn: ConnectionManager, volume: &str) -> anyhow::Result<bool> {
    let Some(lease) = VolumeLease::try_take(conn, volume, 300_000).await? else {
        return Ok(false);
    };
    let status = Command::new("restic")
        .args(["backup", "--tag", volume])
        .arg(format!("/volumes/{volume}"))
        .status()
        .await;
    if !lease.give_up().await? {
        tracing::warn!(volume, "the lease ran out during the backup");
    }
    anyhow::ensure!(status?.success(), "restic failed for {volume}");
    Ok(true)
}
