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
    let lost = CancellationToken::new();
    let renewals = tokio::spawn(renew(
        consul.clone(),
        session.clone(),
        stop.clone(),
        lost.clone(),
    ));

    let result = lost
        .run_until_cancelled(import(feed_url))
        .await
        .unwrap_or_else(|| Err(anyhow::anyhow!("session {session} lost during the import")));

    stop.cancel();
    let _ = renewals.await;
    consul.destroy_session(&session).await?;
    result.map(|()| true)
}

async fn renew(consul: Consul, session: String, stop: CancellationToken, lost: CancellationToken) {
    let every = Duration::from_secs(u64::from(SESSION_TTL) / 3);
    let mut strikes = 0;
    while strikes < 2 {
        tokio::select! {
            _ = stop.cancelled() => return,
            _ = tokio::time::sleep(every) => {}
        }
        match consul.renew_session(&session).await {
            Ok(true) => strikes = 0,
            Ok(false) => break,
            Err(e) => {
                strikes += 1;
                tracing::error!("session renewal: {e:#}");
            }
        }
    }
    tracing::error!("session {session} is lost");
    lost.cancel();
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
