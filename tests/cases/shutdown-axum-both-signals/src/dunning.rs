use std::time::Duration;

use redis::Script;
use redis::aio::ConnectionManager;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const KEY: &str = "dunning:run";
const TTL_MS: u64 = 30_000;

const RENEW: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";
const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

/// Sends reminders until it is told to stop.
pub async fn run(mut redis: ConnectionManager, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(e) = round(&mut redis, &stop).await {
            tracing::error!("dunning: {e:#}");
        }
        tokio::select! {
            _ = stop.cancelled() => {}
            _ = tokio::time::sleep(Duration::from_secs(300)) => {}
        }
    }
}

async fn round(redis: &mut ConnectionManager, stop: &CancellationToken) -> anyhow::Result<()> {
    let owner = Uuid::new_v4().to_string();
    let won: Option<String> = redis::cmd("SET")
        .arg(KEY)
        .arg(&owner)
        .arg("NX")
        .arg("PX")
        .arg(TTL_MS)
        .query_async(redis)
        .await?;
    if won.is_none() {
        return Ok(());
    }
    let result = tokio::select! {
        r = send_reminders() => r,
        e = keep(redis.clone(), &owner) => Err(e),
        _ = stop.cancelled() => Ok(()),
    };
    let freed: i64 = Script::new(RELEASE)
        .key(KEY)
        .arg(&owner)
        .invoke_async(redis)
        .await?;
    if freed == 0 {
        tracing::warn!("dunning lock had been lost");
    }
    result
}

async fn keep(mut redis: ConnectionManager, owner: &str) -> anyhow::Error {
    let mut errors = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(TTL_MS / 3)).await;
        let r: redis::RedisResult<i64> = Script::new(RENEW)
            .key(KEY)
            .arg(owner)
            .arg(TTL_MS)
            .invoke_async(&mut redis)
            .await;
        match r {
            Ok(1) => errors = 0,
            Ok(_) => return anyhow::anyhow!("dunning lock taken over"),
            Err(e) if errors == 1 => return e.into(),
            Err(e) => {
                tracing::warn!("renewal: {e}");
                errors += 1;
            }
        }
    }
}

async fn send_reminders() -> anyhow::Result<()> {
    let http = reqwest::Client::new();
    let due = http
        .get("http://billing.internal/overdue")
        .send()
        .await?
        .error_for_status()?
        .text()
        .await?;
    for invoice in due.lines() {
        http.post(format!("http://mail.internal/reminder/{invoice}"))
            .send()
            .await?
            .error_for_status()?;
    }
    Ok(())
}
