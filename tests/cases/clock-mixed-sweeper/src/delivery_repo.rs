use chrono::{Duration, Utc};
use sqlx::PgPool;
use uuid::Uuid;

#[derive(sqlx::FromRow)]
pub struct Delivery {
    pub id: i64,
    pub url: String,
    pub body: String,
    pub claim_id: Uuid,
}

pub async fn claim(pool: &PgPool) -> sqlx::Result<Option<Delivery>> {
    let lease_expires_at = Utc::now() + Duration::minutes(2);
    sqlx::query_as(
        "UPDATE delivery
            SET status = 'running', claim_id = $1, lease_expires_at = $2
          WHERE id = (SELECT id FROM delivery
                       WHERE status = 'queued'
                       ORDER BY id
                       LIMIT 1
                         FOR UPDATE SKIP LOCKED)
         RETURNING id, url, body, claim_id",
    )
    .bind(Uuid::new_v4())
    .bind(lease_expires_at)
    .fetch_optional(pool)
    .await
}

pub async fn finish(pool: &PgPool, d: &Delivery, ok: bool) -> sqlx::Result<bool> {
    let r = sqlx::query(
        "UPDATE delivery SET status = $3 WHERE id = $1 AND claim_id = $2 AND status = 'running'",
    )
    .bind(d.id)
    .bind(d.claim_id)
    .bind(if ok { "done" } else { "failed" })
    .execute(pool)
    .await?;
    Ok(r.rows_affected() == 1)
}
