use std::future::Future;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, PgPool};

const IMPORT: i64 = 0x494d_504f;

/// Runs imports; one at a time in all the cluster.
pub struct Imports {
    options: PgConnectOptions,
    pool: PgPool,
}

impl Imports {
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        let options: PgConnectOptions = url.parse()?;
        let pool = PgPool::connect_with(options.clone()).await?;
        Ok(Self { options, pool })
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    async fn session(&self) -> anyhow::Result<PgConnection> {
        Ok(self.options.connect().await?)
    }

    /// None when an import is running elsewhere.
    pub async fn alone<F: Future>(&self, import: F) -> anyhow::Result<Option<F::Output>> {
        let mut session = self.session().await?;
        let got: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
            .bind(IMPORT)
            .fetch_one(&mut session)
            .await?;
        if !got {
            session.close().await?;
            return Ok(None);
        }
        let out = import.await;
        // the server frees the lock when the session ends
        if let Err(e) = session.close().await {
            tracing::warn!("closing: {e}");
        }
        Ok(Some(out))
    }
}
