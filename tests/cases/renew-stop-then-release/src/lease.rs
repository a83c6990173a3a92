use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::watch;

pub async fn take(pool: &PgPool, task: &str, holder: &str) -> sqlx::Result<bool> {
    let r = sqlx::query(
        "INSERT INTO task_lease (task, holder, held_until)
         VALUES ($1, $2, now() + interval '60 seconds')
         ON CONFLICT (task) DO UPDATE
            SET holder = excluded.holder, held_until = excluded.held_until
          WHERE task_lease.held_until <= now()",
    )
    .bind(task)
    .bind(holder)
    .execute(pool)
    .await?;
    Ok(r.rows_affected() == 1)
}

async fn prolong(pool: &PgPool, task: &str, holder: &str) -> sqlx::Result<bool> {
    let r = sqlx::query(
        "UPDATE task_lease SET held_until = now() + interval '60 seconds' WHERE task = $1 AND holder = $2",
    )
    .bind(task)
    .bind(holder)
    .execute(pool)
    .await?;
    Ok(r.rows_affected() == 1)
}

/// The row is kept for the admin page, it only ends now.
pub async fn let_go(pool: &PgPool, task: &str, holder: &str) -> sqlx::Result<bool> {
    let r = sqlx::query("UPDATE task_lease SET held_until = now() WHERE task = $1 AND holder = $2")
        .bind(task)
        .bind(holder)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() == 1)
}

pub async fn heartbeat(
    pool: PgPool,
    task: &'static str,
    holder: String,
    alive: watch::Sender<bool>,
) {
    let mut failed = 0;
    while failed < 2 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        match prolong(&pool, task, &holder).await {
            Ok(true) => failed = 0,
            Ok(false) => break,
            Err(e) => {
                tracing::warn!("heartbeat of {task}: {e}");
                failed += 1;
            }
        }
    }
    alive.send_replace(false);
}
