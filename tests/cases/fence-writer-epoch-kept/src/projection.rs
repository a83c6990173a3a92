use sqlx::PgPool;

use crate::lease::WriterLease;
use crate::WriterError;

pub struct Projections {
    pool: PgPool,
}

impl Projections {
    pub fn new(pool: PgPool) -> Self {
        Projections { pool }
    }

    /// Stores one stream's projection; refused if the epoch is not ours.
    pub async fn store(
        &self,
        lease: &WriterLease,
        stream: &str,
        position: i64,
        body: serde_json::Value,
    ) -> Result<(), WriterError> {
        let mut tx = self.pool.begin().await?;
        let ours: Option<i32> = sqlx::query_scalar(
            "SELECT 1 FROM writer_leases WHERE name = $1 AND lease_epoch = $2 FOR UPDATE",
        )
        .bind(&lease.name)
        .bind(lease.epoch)
        .fetch_optional(&mut *tx)
        .await?;
        if ours.is_none() {
            tx.rollback().await?;
            return Err(WriterError::Superseded);
        }
        sqlx::query(
            "INSERT INTO projections (stream, position, body) VALUES ($1, $2, $3)
             ON CONFLICT (stream) DO UPDATE
                SET position = EXCLUDED.position, body = EXCLUDED.body",
        )
        .bind(stream)
        .bind(position)
        .bind(body)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(())
    }
}
