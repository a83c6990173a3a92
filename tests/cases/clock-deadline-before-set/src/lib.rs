use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Result};
use deadpool_redis::{Pool, redis};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

/// How much earlier than Redis we stop.
const SAFETY: Duration = Duration::from_secs(2);

const DEL_IF_MINE: &str = r#"
    local owner = redis.call("GET", KEYS[1])
    if owner ~= ARGV[1] then
        return 0
    end
    return redis.call("DEL", KEYS[1])
"#;

struct Slot {
    pool: Pool,
    key: String,
    owner: Uuid,
    deadline: Instant,
}

impl Slot {
    async fn claim(pool: &Pool, printer: &str, ttl: Duration) -> Result<Option<Slot>> {
        let key = format!("printer:{printer}:slot");
        let owner = Uuid::new_v4();
        let mut conn = pool.get().await?;
        let deadline = Instant::now() + ttl - SAFETY;
        let reply: Option<String> = redis::cmd("SET")
            .arg(&key)
            .arg(owner.to_string())
            .arg("PX")
            .arg(ttl.as_millis() as u64)
            .arg("NX")
            .query_async(&mut conn)
            .await?;
        if reply.is_none() {
            return Ok(None);
        }
        Ok(Some(Slot {
            pool: pool.clone(),
            key,
            owner,
            deadline,
        }))
    }

    async fn free(self) -> Result<bool> {
        let mut conn = self.pool.get().await?;
        let n: i64 = redis::Script::new(DEL_IF_MINE)
            .key(&self.key)
            .arg(self.owner.to_string())
            .invoke_async(&mut conn)
            .await?;
        Ok(n == 1)
    }
}

/// Runs `job` with the printer to itself, and cuts it off when the slot is over.
/// `None` when the printer is busy.
pub async fn with_printer<F>(
    pool: &Pool,
    printer: &str,
    ttl: Duration,
    job: F,
) -> Result<Option<F::Output>>
where
    F: Future,
{
    let Some(slot) = Slot::claim(pool, printer, ttl).await? else {
        return Ok(None);
    };
    let out = timeout_at(slot.deadline, job)
        .await
        .context("slot of the printer is over");
    match slot.free().await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(printer, "slot was over before the job"),
        Err(e) => tracing::warn!(printer, "freeing the slot: {e:#}"),
    }
    out.map(Some)
}

pub async fn print_statement(pool: &Pool, printer: &str, file: &str) -> Result<bool> {
    let lp = tokio::process::Command::new("lp")
        .args(["-d", printer, file])
        .kill_on_drop(true)
        .status();
    match with_printer(pool, printer, Duration::from_secs(40), lp).await? {
        None => Ok(false),
        Some(status) => {
            let status = status?;
            anyhow::ensure!(status.success(), "lp: {status}");
            Ok(true)
        }
    }
}
