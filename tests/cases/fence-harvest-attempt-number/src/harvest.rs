use deadpool_postgres::Pool;
use serde_json::Value;

use crate::statements::{AGAIN, BEGIN, STORE, TOUCH};

pub struct Harvest {
    id: i64,
    attempt: i64,
    pub field: String,
}

pub async fn begin(pool: &Pool) -> anyhow::Result<Option<Harvest>> {
    let row = pool.get().await?.query_opt(BEGIN, &[]).await?;
    Ok(row.map(|r| Harvest {
        id: r.get("id"),
        field: r.get("field"),
        attempt: r.get("attempt"),
    }))
}

/// False when the harvest was given to somebody else.
pub async fn touch(pool: &Pool, h: &Harvest) -> anyhow::Result<bool> {
    Ok(pool.get().await?.execute(TOUCH, &[&h.id, &h.attempt]).await? == 1)
}

pub async fn store(pool: &Pool, h: Harvest, result: Value) -> anyhow::Result<()> {
    let stored = pool.get().await?.execute(STORE, &[&h.id, &h.attempt, &result]).await?;
    anyhow::ensure!(stored == 1, "harvest {} is in its next attempt", h.id);
    Ok(())
}

pub async fn again(pool: &Pool) -> anyhow::Result<()> {
    let n = pool.get().await?.execute(AGAIN, &[]).await?;
    if n > 0 {
        tracing::warn!(n, "harvests have to begin again");
    }
    Ok(())
}
