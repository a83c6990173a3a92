use sqlx::mysql::MySqlQueryResult;
use sqlx::MySqlPool;

/// What an electronic shelf shows.
pub struct Label<'a> {
    pub code: &'a str,
    pub text: &'a str,
    pub price_cents: i64,
}

/// `generation` is the fencing token of the price publisher's lease; it grows with each election.
pub struct Labels {
    pool: MySqlPool,
    generation: u64,
}

impl Labels {
    pub fn new(pool: MySqlPool, generation: u64) -> Self {
        Self { pool, generation }
    }

    pub async fn show(&self, l: &Label<'_>) -> anyhow::Result<()> {
        let r: MySqlQueryResult = sqlx::query(
            r#"
            UPDATE shelves
            SET label = ?, price_cents = ?, generation = ?
            WHERE code = ? AND generation <> ?
            "#,
        )
        .bind(l.text)
        .bind(l.price_cents)
        .bind(self.generation)
        .bind(l.code)
        .bind(self.generation)
        .execute(&self.pool)
        .await?;
        anyhow::ensure!(r.rows_affected() == 1, "shelf {} belongs to another generation", l.code);
        Ok(())
    }
}
