use sqlx::PgPool;
use uuid::Uuid;

pub struct HostLock {
    host: String,
    owner: Uuid,
    token: i64,
}

impl HostLock {
    pub async fn take(pool: &PgPool, host: &str) -> sqlx::Result<Option<HostLock>> {
        let owner = Uuid::new_v4();
        let token: Option<i64> = sqlx::query_scalar(
            "INSERT INTO host_locks AS l (host, owner, token, expires_at)
             VALUES ($1, $2, 1, now() + interval '30 seconds')
             ON CONFLICT (host) DO UPDATE
                SET owner = EXCLUDED.owner, token = l.token + 1, expires_at = EXCLUDED.expires_at
              WHERE l.expires_at < now()
             RETURNING token",
        )
        .bind(host)
        .bind(owner)
        .fetch_optional(pool)
        .await?;
        Ok(token.map(|token| HostLock {
            host: host.to_owned(),
            owner,
            token,
        }))
    }

    pub fn token(&self) -> i64 {
        self.token
    }

    /// Ends the lock's time; the row stays and keeps its counter.
    pub async fn end(self, pool: &PgPool) -> sqlx::Result<bool> {
        let done =
            sqlx::query("UPDATE host_locks SET expires_at = now() WHERE host = $1 AND owner = $2")
                .bind(&self.host)
                .bind(self.owner)
                .execute(pool)
                .await?;
        Ok(done.rows_affected() == 1)
    }
}
