use deadpool_redis::redis::{self, AsyncCommands};
use deadpool_redis::Pool;

use crate::MarketError;

/// Everything the market keeps in Redis goes through here.
#[derive(Clone)]
pub struct Kv {
    pool: Pool,
    ns: &'static str,
}

impl Kv {
    pub fn new(pool: Pool) -> Self {
        Self { pool, ns: "market" }
    }

    fn full(&self, k: &str) -> String {
        format!("{}:{}", self.ns, k)
    }

    pub async fn peek(&self, k: &str) -> Result<Option<String>, MarketError> {
        let mut c = self.pool.get().await?;
        Ok(c.get(self.full(k)).await?)
    }

    pub async fn put_if_free(&self, k: &str, v: &str, ms: u64) -> Result<bool, MarketError> {
        let mut c = self.pool.get().await?;
        let won: Option<String> = redis::cmd("SET")
            .arg(self.full(k))
            .arg(v)
            .arg("NX")
            .arg("PX")
            .arg(ms)
            .query_async(&mut c)
            .await?;
        Ok(won.is_some())
    }

    pub async fn wipe(&self, k: &str) -> Result<(), MarketError> {
        let mut c = self.pool.get().await?;
        let _: () = c.unlink(self.full(k)).await?;
        Ok(())
    }
}
