//! Upgrades the fleet's firmware, one site after the other.
mod five;

use std::time::Duration;

use anyhow::{Result, bail};
use fred::prelude::Client;
use tokio::process::Command;

use five::Five;

pub async fn upgrade_site(nodes: Vec<Client>, site: &str) -> Result<bool> {
    let five = Five::new(nodes);
    let Some(grant) = five
        .grant(&format!("upgrade:{site}"), Duration::from_secs(180))
        .await
    else {
        log::info!("{site}: another upgrade is running");
        return Ok(false);
    };
    let flash = Command::new("flash-site")
        .arg(site)
        .kill_on_drop(true)
        .status();
    let flashed = tokio::time::timeout(grant.validity, flash).await;
    let freed = five.free(&grant).await;
    if freed < five.majority() {
        log::warn!("{site}: only {freed} nodes still knew the lock");
    }
    match flashed {
        Ok(status) if status.as_ref().is_ok_and(|s| s.success()) => Ok(true),
        Ok(status) => bail!("{site}: flashing: {status:?}"),
        Err(_) => bail!("{site}: flashing took longer than the lock"),
    }
}
