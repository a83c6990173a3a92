use std::time::Duration;

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::store::Store;

const EXPORT_LOCK: &str = "invoice-export:running";
const TTL_MS: u64 = 45_000;

/// Runs one export unless another replica is already at it.
pub async fn export_once(store: &Store, http: &reqwest::Client) -> anyhow::Result<bool> {
    let owner = Uuid::new_v4().to_string();
    if !store.put_if_absent(EXPORT_LOCK, &owner, TTL_MS).await? {
        return Ok(false);
    }

    let stop = CancellationToken::new();
    let lost = CancellationToken::new();
    let beat = tokio::spawn(heartbeat(
        store.clone(),
        owner.clone(),
        stop.clone(),
        lost.clone(),
    ));

    let outcome = tokio::select! {
        _ = lost.cancelled() => Err(anyhow::anyhow!("export lock lost")),
        r = push_invoices(http) => r,
    };

    stop.cancel();
    let _ = beat.await;
    if !store.remove_if(EXPORT_LOCK, &owner).await? {
        tracing::warn!("export lock was gone before the release");
    }
    outcome.map(|_| true)
}

async fn heartbeat(store: Store, owner: String, stop: CancellationToken, lost: CancellationToken) {
    let mut tick = tokio::time::interval(Duration::from_millis(TTL_MS / 3));
    let mut misses = 0u8;
    loop {
        tokio::select! {
            _ = stop.cancelled() => return,
            _ = tick.tick() => {}
        }
        match prolong(&store, &owner).await {
            Ok(true) => misses = 0,
            Ok(false) => return lost.cancel(),
            Err(e) => {
                misses += 1;
                tracing::warn!(error = %e, misses, "could not prolong export lock");
                if misses == 2 {
                    return lost.cancel();
                }
            }
        }
    }
}

async fn prolong(store: &Store, owner: &str) -> anyhow::Result<bool> {
    match store.read(EXPORT_LOCK).await? {
        Some(current) if current == owner => store.touch(EXPORT_LOCK, TTL_MS as i64).await,
        _ => Ok(false),
    }
}

async fn push_invoices(http: &reqwest::Client) -> anyhow::Result<()> {
    for page in 1..=20u32 {
        http.post("https://books.internal/api/invoices/import")
            .json(&serde_json::json!({ "page": page }))
            .send()
            .await?
            .error_for_status()?;
    }
    Ok(())
}
