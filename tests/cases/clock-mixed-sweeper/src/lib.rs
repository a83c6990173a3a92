mod delivery_repo;
mod sweeper;

use std::time::Duration;

use anyhow::Result;
use delivery_repo::Delivery;
use sqlx::PgPool;

pub use sweeper::sweep;

/// Delivers one webhook. The HTTP call is well within the lease of two minutes.
pub async fn deliver_next(pool: &PgPool, http: &reqwest::Client) -> Result<bool> {
    let Some(d) = delivery_repo::claim(pool).await? else {
        return Ok(false);
    };
    let ok = post(http, &d).await;
    if !delivery_repo::finish(pool, &d, ok).await? {
        tracing::warn!(delivery = d.id, "was claimed again by another sender");
    }
    Ok(true)
}

async fn post(http: &reqwest::Client, d: &Delivery) -> bool {
    let sent = http
        .post(&d.url)
        .timeout(Duration::from_secs(30))
        .body(d.body.clone())
        .send()
        .await;
    sent.is_ok_and(|r| r.status().is_success())
}
