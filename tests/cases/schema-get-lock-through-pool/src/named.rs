use sqlx::MySqlPool;

/// A named lock of the server.
pub(crate) struct Named<'p> {
    pool: &'p MySqlPool,
    name: &'static str,
}

impl<'p> Named<'p> {
    pub(crate) fn new(pool: &'p MySqlPool, name: &'static str) -> Self {
        Self { pool, name }
    }

    pub(crate) async fn get(&self, seconds: i32) -> sqlx::Result<bool> {
        let got: Option<i64> = sqlx::query_scalar("SELECT GET_LOCK(?, ?)")
            .bind(self.name)
            .bind(seconds)
            .fetch_one(self.pool)
            .await?;
        Ok(got == Some(1))
    }

    pub(crate) async fn release(&self) -> sqlx::Result<bool> {
        let freed: Option<i64> = sqlx::query_scalar("SELECT RELEASE_LOCK(?)")
            .bind(self.name)
            .fetch_one(self.pool)
            .await?;
        Ok(freed == Some(1))
    }
}
