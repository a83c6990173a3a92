//! Every edge node says that it is alive; clients say that they are typing.
use std::time::Duration;

use redis::AsyncCommands;
use redis::aio::ConnectionManager;

const ALIVE_SECS: u64 = 30;

pub struct Presence {
    redis: ConnectionManager,
    node: String,
    addr: String,
}

impl Presence {
    pub fn new(redis: ConnectionManager, node: String, addr: String) -> Self {
        Self { redis, node, addr }
    }

    /// Runs for the life of the process. A missed beat only hides the node for a while.
    pub fn announce(self) {
        tokio::spawn(async move {
            let mut redis = self.redis;
            let key = format!("edge:{}:addr", self.node);
            let mut tick = tokio::time::interval(Duration::from_secs(20));
            loop {
                tick.tick().await;
                let r: redis::RedisResult<()> = redis.set_ex(&key, &self.addr, ALIVE_SECS).await;
                if let Err(e) = r {
                    tracing::warn!("heartbeat of {key}: {e}");
                }
            }
        });
    }

    pub async fn leave(mut redis: ConnectionManager, node: &str) -> anyhow::Result<()> {
        let _: i64 = redis.del(format!("edge:{node}:addr")).await?;
        Ok(())
    }
}

pub async fn typing(redis: &mut ConnectionManager, room: u64, user: u64) -> anyhow::Result<()> {
    let key = format!("room:{room}:typing:{user}");
    let fresh: Option<String> = redis::cmd("SET")
        .arg(&key)
        .arg(1)
        .arg("NX")
        .arg("EX")
        .arg(6)
        .query_async(redis)
        .await?;
    if fresh.is_some() {
        let _: i64 = redis
            .publish(format!("room:{room}"), format!("typing:{user}"))
            .await?;
    } else {
        let _: i64 = redis.expire(&key, 6).await?;
    }
    Ok(())
}
