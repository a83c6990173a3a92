use std::sync::LazyLock;

use anyhow::Result;
use redis::Script;
use redis::aio::ConnectionManager;
use uuid::Uuid;

pub const SEAT_MS: u64 = 30_000;

static SIT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("seat/sit.lua")));
static STAY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("seat/stay.lua")));
static RISE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("seat/rise.lua")));

pub struct Seat {
    redis: ConnectionManager,
    key: String,
    guest: String,
}

impl Seat {
    /// `Err(ms)` tells how long the present guest may stay at most.
    pub async fn sit(mut redis: ConnectionManager, table: u32) -> Result<Result<Seat, u64>> {
        let key = format!("table:{table}:seat");
        let guest = Uuid::new_v4().to_string();
        let wait_ms: u64 = SIT
            .key(&key)
            .arg(&guest)
            .arg(SEAT_MS)
            .invoke_async(&mut redis)
            .await?;
        Ok(if wait_ms == 0 {
            Ok(Seat { redis, key, guest })
        } else {
            Err(wait_ms)
        })
    }

    /// False when the seat has been given to somebody else, or is free.
    pub async fn stay(&self) -> Result<bool> {
        let n: i64 = STAY
            .key(&self.key)
            .arg(&self.guest)
            .arg(SEAT_MS)
            .invoke_async(&mut self.redis.clone())
            .await?;
        Ok(n == 1)
    }

    pub async fn rise(mut self) -> Result<bool> {
        let n: i64 = RISE
            .key(&self.key)
            .arg(&self.guest)
            .invoke_async(&mut self.redis)
            .await?;
        Ok(n == 1)
    }
}
