use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use sqlx::MySqlPool;
use tokio::process::Command;
use tokio::task::JoinSet;
use uuid::Uuid;

/// Validity of the row in seconds; renewed three times as often.
const VALID: u32 = 120;

enum Ended {
    Work(Result<()>),
    Lease(anyhow::Error),
}

pub async fn backup_group(pool: &MySqlPool, group: &str) -> Result<bool> {
    let runner = Uuid::new_v4().to_string();
    if !take(pool, group, &runner).await? {
        return Ok(false);
    }

    let mut tasks = JoinSet::new();
    tasks.spawn({
        let group = group.to_owned();
        async move { Ended::Work(run_restic(&group).await) }
    });
    tasks.spawn({
        let (pool, group, runner) = (pool.clone(), group.to_owned(), runner.clone());
        async move { Ended::Lease(renew(&pool, &group, &runner).await) }
    });

    let first = tasks.join_next().await.expect("two tasks were spawned");
    // Aborts the other one and waits until it is gone.
    tasks.shutdown().await;

    match give_up(pool, group, &runner).await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(group, "lease had moved on"),
        Err(e) => tracing::warn!(group, "giving up the lease: {e}"),
    }

    match first.context("backup task")? {
        Ended::Work(r) => r.map(|()| true),
        Ended::Lease(e) => Err(e.context(format!("backup of {group} was cut off"))),
    }
}

async fn take(pool: &MySqlPool, group: &str, runner: &str) -> Result<bool> {
    let over = sqlx::query(
        "UPDATE backup_lease SET runner = ?, until = NOW(3) + INTERVAL ? SECOND
          WHERE host_group = ? AND until < NOW(3)",
    )
    .bind(runner)
    .bind(VALID)
    .bind(group)
    .execute(pool)
    .await?;
    if over.rows_affected() > 0 {
        return Ok(true);
    }
    let new = sqlx::query(
        "INSERT IGNORE INTO backup_lease (host_group, runner, until)
         VALUES (?, ?, NOW(3) + INTERVAL ? SECOND)",
    )
    .bind(group)
    .bind(runner)
    .bind(VALID)
    .execute(pool)
    .await?;
    Ok(new.rows_affected() > 0)
}

async fn renew(pool: &MySqlPool, group: &str, runner: &str) -> anyhow::Error {
    let mut tick = tokio::time::interval(Duration::from_secs(u64::from(VALID) / 3));
    let mut last_error = None;
    loop {
        tick.tick().await;
        let r = sqlx::query(
            "UPDATE backup_lease SET until = NOW(3) + INTERVAL ? SECOND WHERE host_group = ? AND runner = ?",
        )
        .bind(VALID)
        .bind(group)
        .bind(runner)
        .execute(pool)
        .await;
        match r {
            Ok(done) if done.rows_affected() == 0 => {
                return anyhow!("lease of {group} belongs to another runner");
            }
            Ok(_) => last_error = None,
            Err(e) => match last_error.replace(e) {
                None => tracing::warn!(group, "renewal failed once"),
                Some(first) => return anyhow!(first).context("two renewals failed"),
            },
        }
    }
}

async fn give_up(pool: &MySqlPool, group: &str, runner: &str) -> Result<bool> {
    let r = sqlx::query("DELETE FROM backup_lease WHERE host_group = ? AND runner = ?")
        .bind(group)
        .bind(runner)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() > 0)
}

async fn run_restic(group: &str) -> Result<()> {
    let status = Command::new("restic")
        .args(["backup", "--tag", group, "/srv"])
        .kill_on_drop(true)
        .status()
        .await?;
    anyhow::ensure!(status.success(), "restic: {status}");
    Ok(())
}
