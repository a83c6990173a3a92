use std::process::ExitStatus;

use redis::aio::ConnectionManager;
use tokio::process::Command;

use crate::lease::VolumeLease;

/// Backs a volume up; several may run on one host, never two of one volume.
pub async fn back_up(conn: ConnectionManager, volume: &str) -> anyhow::Result<Option<ExitStatus>> {
    let mut lease = VolumeLease::new(conn, volume, 300_000);
    if !lease.try_take().await? {
        return Ok(None);
    }
    let status = dump(volume).await;
    if !lease.give_up().await? {
        tracing::warn!(volume, "the lease ran out during the backup");
    }
    Ok(Some(status?))
}

async fn dump(volume: &str) -> anyhow::Result<ExitStatus> {
    let status = Command::new("restic")
        .args(["backup", "--tag", volume])
        .arg(format!("/volumes/{volume}"))
        .status()
        .await?;
    anyhow::ensure!(status.success(), "restic failed for {volume}");
    Ok(status)
}
