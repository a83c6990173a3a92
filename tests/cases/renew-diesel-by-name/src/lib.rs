mod lease_repo;
mod schema;

use std::time::Duration;

use anyhow::{Result, bail};
use uuid::Uuid;

use lease_repo::{LeaseRepo, Pool};

const SITEMAP: &str = "sitemap";

/// Writes the sitemap to object storage; `false` if another instance does.
pub async fn write_sitemap(pool: Pool, upload_url: &str) -> Result<bool> {
    let repo = LeaseRepo::new(pool);
    let me = Uuid::new_v4();
    if !repo.take(SITEMAP, me).await? {
        return Ok(false);
    }
    let outcome = tokio::select! {
        r = generate(upload_url) => r,
        e = keep(&repo, me) => Err(e),
    };
    if !repo.give_back(SITEMAP, me).await? {
        tracing::warn!("sitemap lease was held by another instance");
    }
    outcome.map(|()| true)
}

async fn keep(repo: &LeaseRepo, _me: Uuid) -> anyhow::Error {
    let mut failed = false;
    loop {
        tokio::time::sleep(Duration::from_secs(15)).await;
        match repo.prolong(SITEMAP).await {
            Ok(true) => failed = false,
            Ok(false) => return anyhow::anyhow!("sitemap lease is gone"),
            Err(e) if failed => return e.context("second failure in a row"),
            Err(e) => {
                tracing::warn!("prolong: {e:#}");
                failed = true;
            }
        }
    }
}

async fn generate(upload_url: &str) -> Result<()> {
    let out = tokio::process::Command::new("sitemap-gen")
        .kill_on_drop(true)
        .output()
        .await?;
    if !out.status.success() {
        bail!("sitemap-gen: {}", out.status);
    }
    let done = tokio::process::Command::new("curl")
        .args(["-fsS", "-T", "/tmp/sitemap.xml.gz", upload_url])
        .kill_on_drop(true)
        .status()
        .await?;
    if !done.success() {
        bail!("upload: {done}");
    }
    Ok(())
}
