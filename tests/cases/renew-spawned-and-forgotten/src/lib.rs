use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use redis::Script;
use redis::aio::ConnectionManager;
use tokio::sync::oneshot;
use uuid::Uuid;

const LOCK: &str = "search:rebuild";
const LOCK_MS: u64 = 20_000;

const PROLONG: &str = r#"
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("PEXPIRE", KEYS[1], ARGV[2])
else
    return 0
end"#;

const RELEASE: &str = r#"
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
else
    return 0
end"#;

pub async fn rebuild(mut redis: ConnectionManager, es: &str) -> Result<bool> {
    let owner = Uuid::new_v4().to_string();
    let won: Option<String> = redis::cmd("SET")
        .arg(LOCK)
        .arg(&owner)
        .arg("NX")
        .arg("PX")
        .arg(LOCK_MS)
        .query_async(&mut redis)
        .await?;
    if won.is_none() {
        return Ok(false);
    }

    let (gone, on_gone) = oneshot::channel();
    tokio::spawn(heartbeat(redis.clone(), owner.clone(), gone));

    tokio::select! {
        r = reindex(es) => r?,
        _ = on_gone => return Err(anyhow!("rebuild lock is gone")),
    }

    let n: i64 = Script::new(RELEASE)
        .key(LOCK)
        .arg(&owner)
        .invoke_async(&mut redis)
        .await?;
    if n == 0 {
        tracing::warn!("rebuild lock was taken over");
    }
    Ok(true)
}

/// Dropping `gone` is the signal.
async fn heartbeat(mut redis: ConnectionManager, owner: String, gone: oneshot::Sender<()>) {
    let _gone = gone;
    let mut tick = tokio::time::interval(Duration::from_millis(LOCK_MS / 4));
    let mut missed = 0;
    loop {
        tick.tick().await;
        let r: redis::RedisResult<i64> = Script::new(PROLONG)
            .key(LOCK)
            .arg(&owner)
            .arg(LOCK_MS)
            .invoke_async(&mut redis)
            .await;
        match r {
            Ok(1) => missed = 0,
            Ok(_) => return,
            Err(e) => {
                missed += 1;
                tracing::warn!(missed, "heartbeat: {e}");
                if missed == 2 {
                    return;
                }
            }
        }
    }
}

async fn reindex(es: &str) -> Result<()> {
    let http = reqwest::Client::new();
    for index in ["products", "brands", "stores"] {
        http.post(format!("{es}/{index}/_reindex"))
            .timeout(Duration::from_secs(600))
            .send()
            .await
            .with_context(|| format!("reindex {index}"))?
            .error_for_status()?;
    }
    Ok(())
}
