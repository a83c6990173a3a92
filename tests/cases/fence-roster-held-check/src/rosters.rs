use std::time::Duration;

use anyhow::bail;
use redis::aio::ConnectionManager;
use serde_json::Value;
use sqlx::PgPool;

use crate::lease::Lease;

const PLANNING: Duration = Duration::from_secs(20);

pub struct Rosters {
    pool: PgPool,
    redis: ConnectionManager,
}

impl Rosters {
    /// Plans a week anew. Planning may take most of the lease's time.
    pub async fn replan<P>(&self, team: i64, week: &str, planner: P) -> anyhow::Result<()>
    where
        P: Fn(&Value) -> anyhow::Result<Value>,
    {
        let key = format!("roster:{team}:{week}");
        let Some(lease) = Lease::acquire(self.redis.clone(), key, PLANNING).await? else {
            bail!("team {team} is being planned");
        };
        let planned = self.replan_under(&lease, team, week, planner).await;
        if !lease.release().await? {
            tracing::warn!(team, week, "planning outlived its lease");
        }
        planned
    }

    async fn replan_under<P>(
        &self,
        lease: &Lease,
        team: i64,
        week: &str,
        planner: P,
    ) -> anyhow::Result<()>
    where
        P: Fn(&Value) -> anyhow::Result<Value>,
    {
        let old: Value =
            sqlx::query_scalar("SELECT plan FROM rosters WHERE team = $1 AND week = $2")
                .bind(team)
                .bind(week)
                .fetch_one(&self.pool)
                .await?;
        let new = planner(&old)?;

        if !lease.is_held() {
            bail!("planning took too long");
        }
        sqlx::query("UPDATE rosters SET plan = $3 WHERE team = $1 AND week = $2")
            .bind(team)
            .bind(week)
            .bind(new)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
