use sqlx::PgPool;
use uuid::Uuid;

use crate::WriterError;

#[derive(Clone, Debug)]
pub struct WriterLease {
    pub name: String,
    pub epoch: i64,
    holder: Uuid,
}

/// Takes the lease if nobody has it or its time is over.
pub async fn acquire(pool: &PgPool, name: &str) -> Result<Option<WriterLease>, WriterError> {
    let holder = Uuid::new_v4();
    let epoch: Option<i64> = sqlx::query_scalar(
        "INSERT INTO writer_leases (name, holder, expires_at)
         VALUES ($1, $2, now() + interval '15 seconds')
         ON CONFLICT (name) DO UPDATE
            SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at
          WHERE writer_leases.expires_at < now()
         RETURNING lease_epoch",
    )
    .bind(name)
    .bind(holder)
    .fetch_optional(pool)
    .await?;
    Ok(epoch.map(|epoch| WriterLease {
        name: name.to_owned(),
        epoch,
        holder,
    }))
}

impl WriterLease {
    pub async fn renew(&self, pool: &PgPool) -> Result<(), WriterError> {
        let kept = sqlx::query(
            "UPDATE writer_leases SET expires_at = now() + interval '15 seconds'
              WHERE name = $1 AND holder = $2",
        )
        .bind(&self.name)
        .bind(self.holder)
        .execute(pool)
        .await?
        .rows_affected();
        if kept == 0 {
            return Err(WriterError::Superseded);
        }
        Ok(())
    }
}
