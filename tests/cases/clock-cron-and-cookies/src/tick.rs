use std::str::FromStr;
use std::time::Duration;

use anyhow::Result;
use chrono::Utc;
use cron::Schedule;
use sqlx::PgPool;
use uuid::Uuid;

/// Sleeps until the schedule is due, then enters one run, whichever instance comes first.
pub async fn follow(pool: PgPool, name: &str, expression: &str) -> Result<()> {
    let schedule = Schedule::from_str(expression)?;
    loop {
        let Some(due) = schedule.upcoming(Utc).next() else {
            return Ok(());
        };
        let wait = (due - Utc::now()).to_std().unwrap_or(Duration::ZERO);
        tokio::time::sleep(wait).await;

        let me = Uuid::new_v4();
        if !take(&pool, name, me).await? {
            continue;
        }
        let entered = sqlx::query(
            "INSERT INTO run (schedule, due, created_at) VALUES ($1, $2, $3) ON CONFLICT (schedule, due) DO NOTHING",
        )
        .bind(name)
        .bind(due)
        .bind(Utc::now())
        .execute(&pool)
        .await;
        let late = Utc::now() - due;
        tracing::info!(schedule = name, late_ms = late.num_milliseconds(), "due");
        if !give_back(&pool, name, me).await? {
            tracing::warn!(schedule = name, "tick lease had expired");
        }
        if let Err(e) = entered {
            tracing::error!(schedule = name, "run not entered: {e}");
        }
    }
}

async fn take(pool: &PgPool, name: &str, me: Uuid) -> sqlx::Result<bool> {
    let r = sqlx::query(
        "INSERT INTO tick_lease (schedule, holder, expires_at)
         VALUES ($1, $2, clock_timestamp() + interval '20 seconds')
         ON CONFLICT (schedule) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
          WHERE tick_lease.expires_at < clock_timestamp()",
    )
    .bind(name)
    .bind(me)
    .execute(pool)
    .await?;
    Ok(r.rows_affected() == 1)
}

async fn give_back(pool: &PgPool, name: &str, me: Uuid) -> sqlx::Result<bool> {
    let r = sqlx::query("DELETE FROM tick_lease WHERE schedule = $1 AND holder = $2")
        .bind(name)
        .bind(me)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() == 1)
}
