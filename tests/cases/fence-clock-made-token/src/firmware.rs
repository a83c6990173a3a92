use redis::aio::ConnectionManager;
use sqlx::MySqlPool;

use crate::locks::{drop_hold, hold};
use crate::token::next_token;

pub struct Firmware {
    pool: MySqlPool,
    redis: ConnectionManager,
}

impl Firmware {
    pub async fn set_target(&self, charger: u64, target: &str) -> anyhow::Result<bool> {
        let mut redis = self.redis.clone();
        let key = format!("charger:{charger}:firmware");
        let Some(held) = hold(&mut redis, key, 25).await? else {
            return Ok(false);
        };
        let token = next_token();
        let written = self.write(charger, target, token).await;
        if !drop_hold(&mut redis, held).await? {
            tracing::warn!(charger, "hold ran out");
        }
        written.map(|()| true)
    }

    async fn write(&self, charger: u64, target: &str, token: i64) -> anyhow::Result<()> {
        let done = sqlx::query(
            "UPDATE chargers SET target = ?, fencing_token = ? \
              WHERE id = ? AND fencing_token < ?",
        )
        .bind(target)
        .bind(token)
        .bind(charger)
        .bind(token)
        .execute(&self.pool)
        .await?;
        anyhow::ensure!(
            done.rows_affected() == 1,
            "charger {charger}: stale token {token}"
        );
        Ok(())
    }
}
