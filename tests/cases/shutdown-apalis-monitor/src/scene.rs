use std::time::Duration;

use apalis::prelude::*;
use redis::Script;
use redis::aio::ConnectionManager;
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RenderScene {
    pub scene: String,
}

const TTL_MS: u64 = 12_000;

/// Retried by apalis, so two workers may get one scene: the lease lets only one in.
pub async fn render(job: RenderScene, redis: Data<ConnectionManager>) -> anyhow::Result<()> {
    let mut redis = (*redis).clone();
    let key = format!("scene:{}:renderer", job.scene);
    let me = Uuid::new_v4().to_string();
    let won: Option<String> = redis::cmd("SET")
        .arg(&key)
        .arg(&me)
        .arg("NX")
        .arg("PX")
        .arg(TTL_MS)
        .query_async(&mut redis)
        .await?;
    if won.is_none() {
        anyhow::bail!("scene {} is being rendered", job.scene);
    }
    let rendered = tokio::select! {
        r = blender(&job.scene) => r,
        e = renew(redis.clone(), &key, &me) => Err(e),
    };
    let freed: i64 = Script::new(include_str!("free.lua"))
        .key(&key)
        .arg(&me)
        .invoke_async(&mut redis)
        .await?;
    if freed != 1 {
        tracing::warn!(key, "lease had gone");
    }
    rendered
}

async fn renew(mut redis: ConnectionManager, key: &str, me: &str) -> anyhow::Error {
    let script = Script::new(include_str!("renew.lua"));
    let mut tick = tokio::time::interval(Duration::from_millis(TTL_MS / 4));
    let mut failed = 0;
    loop {
        tick.tick().await;
        let r: redis::RedisResult<bool> = script
            .key(key)
            .arg(me)
            .arg(TTL_MS)
            .invoke_async(&mut redis)
            .await;
        match r {
            Ok(true) => failed = 0,
            Ok(false) => return anyhow::anyhow!("{key}: another renderer"),
            Err(e) => {
                failed += 1;
                tracing::warn!(key, failed, "renewal: {e}");
                if failed >= 2 {
                    return e.into();
                }
            }
        }
    }
}

async fn blender(scene: &str) -> anyhow::Result<()> {
    let status = Command::new("blender")
        .args(["-b", scene, "-a"])
        .kill_on_drop(true)
        .status()
        .await?;
    anyhow::ensure!(status.success(), "blender: {status}");
    Ok(())
}
