use std::future::Future;

use sqlx::pool::PoolConnection;
use sqlx::{Connection, MySql, MySqlPool};

/// Lets one process at a time rebuild the search index.
pub struct Rebuild {
    pool: MySqlPool,
}

async fn get(conn: &mut PoolConnection<MySql>, name: &str) -> sqlx::Result<bool> {
    let got: Option<i64> = sqlx::query_scalar("SELECT GET_LOCK(?, 0)")
        .bind(name)
        .fetch_one(&mut **conn)
        .await?;
    Ok(got == Some(1))
}

async fn release(conn: &mut PoolConnection<MySql>, name: &str) -> sqlx::Result<bool> {
    let freed: Option<i64> = sqlx::query_scalar("SELECT RELEASE_LOCK(?)")
        .bind(name)
        .fetch_one(&mut **conn)
        .await?;
    Ok(freed == Some(1))
}

impl Rebuild {
    pub fn new(pool: MySqlPool) -> Self {
        Self { pool }
    }

    pub async fn run<F, T>(&self, index: &str, build: F) -> anyhow::Result<Option<T>>
    where
        F: Future<Output = anyhow::Result<T>>,
    {
        let name = format!("rebuild/{index}");
        let mut conn = self.pool.acquire().await?;
        conn.close_on_drop();
        if !get(&mut conn, &name).await? {
            return Ok(None);
        }
        let built = build.await;
        match release(&mut conn, &name).await {
            Ok(true) => {}
            _ => {
                conn.detach().close().await?;
                anyhow::bail!("the lock {name} was lost");
            }
        }
        built.map(Some)
    }
}
