use std::time::Duration;

use anyhow::Result;
use tokio_util::sync::CancellationToken;

use crate::consul::Consul;

const KEY: &str = "locks/catalog-import";
const SESSION_TTL: u32 = 30;

pub async fn import_if_leader(consul: &Consul, feed_url: &str) -> Result<bool> {
    let session = consul.create_session("catalog-import", SESSION_TTL).await?;
    if !consul.acquire(KEY, &session).await? {
        consul.destroy_session(&session).await?;
        return Ok(false);
    }

    let stop = CancellationToken::new();
    let renewals = tokio::spawn(renew(consul.clone(), session.clone(), stop.clone()));

    let result = import(feed_url).await;

    stop.cancel();
    let _ = renewals.await;
    consul.destroy_session(&session).await?;
    result.map(|()| true)
}

async fn renew(consul: Consul, session: String, stop: CancellationToken) {
    let every = Duration::from_secs(u64::from(SESSION_TTL) / 3);
    loop {
        tokio::select! {
            _ = stop.cancelled() => return,
            _ = tokio::time::sleep(every) => {}
        }
        match consul.renew_session(&session).await {
            Ok(true) => tracing::debug!("session renewed"),
            Ok(false) => tracing::error!("session {session} is unknown to consul"),
            Err(e) => tracing::error!("session renewal: {e:#}"),
        }
    }
}

async fn import(feed_url: &str) -> Result<()> {
    let feed = reqwest::get(feed_url)
        .await?
        .error_for_status()?
        .text()
        .await?;
    for line in feed.lines() {
        reqwest::Client::new()
            .post("http://search.internal/products/_doc")
            .header("content-type", "application/json")
            .body(line.to_owned())
            .send()
            .await?
            .error_for_status()?;
    }
    Ok(())
}
