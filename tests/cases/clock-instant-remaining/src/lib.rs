//! Recalculates tariffs in slices; stops before the lease can run out.
mod lease;

use std::time::Duration;

use anyhow::Result;
use redis::aio::ConnectionManager;
use tokio::process::Command;

use lease::Lease;

/// What one slice takes at most.
const SLICE: Duration = Duration::from_secs(20);

pub async fn recalc(redis: ConnectionManager, slices: u32) -> Result<u32> {
    let Some(lease) = Lease::take(redis).await? else {
        return Ok(0);
    };
    let done = calc_slices(&lease, slices).await;
    if !lease.give_back().await? {
        tracing::warn!("tariff lease had run out");
    }
    done
}

async fn calc_slices(lease: &Lease, slices: u32) -> Result<u32> {
    for slice in 0..slices {
        if lease.remaining() < SLICE {
            tracing::info!(slice, "the rest is for the next run");
            return Ok(slice);
        }
        let run = Command::new("tariff-slice")
            .arg(slice.to_string())
            .kill_on_drop(true)
            .status();
        let status = tokio::time::timeout(SLICE, run).await??;
        anyhow::ensure!(status.success(), "slice {slice}: {status}");
    }
    Ok(slices)
}
