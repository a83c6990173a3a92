use sqlx::{query_file, query_file_as, PgPool};

use crate::plan::Step;

#[derive(Debug, sqlx::FromRow)]
pub struct Route {
    pub backend: String,
    pub weight: i32,
}

#[derive(Clone)]
pub struct Routes {
    pool: PgPool,
}

impl Routes {
    pub fn new(pool: PgPool) -> Self {
        Routes { pool }
    }

    pub async fn get(&self, host: &str) -> sqlx::Result<Option<Route>> {
        query_file_as!(Route, "queries/route.sql", host)
            .fetch_optional(&self.pool)
            .await
    }

    /// Sends a host's traffic to another backend.
    pub async fn switch(&self, step: &Step, token: i64) -> sqlx::Result<()> {
        let result = query_file!(
            "queries/switch_route.sql",
            step.host,
            step.backend,
            step.weight,
            token,
        )
        .execute(&self.pool)
        .await?;
        tracing::debug!(host = %step.host, rows = result.rows_affected(), "switched");
        Ok(())
    }
}
