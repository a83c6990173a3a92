use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use sqlx::MySqlPool;
use uuid::Uuid;

const LOCK_SECS: f64 = 60.0;

pub struct ShardLock {
    pool: MySqlPool,
    shard: u32,
    owner: String,
}

fn unix_now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}

impl ShardLock {
    pub async fn take(pool: MySqlPool, shard: u32) -> Result<Option<Self>> {
        sqlx::query("INSERT IGNORE INTO shard_lock (shard, owner) VALUES (?, '')")
            .bind(shard)
            .execute(&pool)
            .await?;

        let owner = Uuid::new_v4().to_string();
        let now = unix_now();
        let r = sqlx::query(
            "UPDATE shard_lock
                SET owner = ?, valid_until = FROM_UNIXTIME(?)
              WHERE shard = ? AND valid_until < FROM_UNIXTIME(?)",
        )
        .bind(&owner)
        .bind(now + LOCK_SECS)
        .bind(shard)
        .bind(now)
        .execute(&pool)
        .await?;
        Ok((r.rows_affected() == 1).then_some(Self { pool, shard, owner }))
    }

    pub async fn extend(&self) -> Result<bool> {
        let r = sqlx::query(
            "UPDATE shard_lock SET valid_until = FROM_UNIXTIME(?) WHERE shard = ? AND owner = ?",
        )
        .bind(unix_now() + LOCK_SECS)
        .bind(self.shard)
        .bind(&self.owner)
        .execute(&self.pool)
        .await?;
        Ok(r.rows_affected() == 1)
    }

    pub async fn free(self) -> Result<bool> {
        let r = sqlx::query(
            "UPDATE shard_lock SET owner = '', valid_until = '2000-01-01 00:00:00' WHERE shard = ? AND owner = ?",
        )
        .bind(self.shard)
        .bind(&self.owner)
        .execute(&self.pool)
        .await?;
        Ok(r.rows_affected() == 1)
    }
}
