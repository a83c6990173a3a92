use sqlx::PgPool;
use uuid::Uuid;

pub struct RunLock {
    pool: PgPool,
    run_name: String,
    owner: Uuid,
}

impl RunLock {
    pub async fn take(pool: &PgPool, run_name: &str) -> sqlx::Result<Option<RunLock>> {
        let owner = Uuid::new_v4();
        let inserted = sqlx::query!(
            "INSERT INTO run_locks (run_name, owner) VALUES ($1, $2) \
             ON CONFLICT (run_name) DO NOTHING",
            run_name,
            owner,
        )
        .execute(pool)
        .await?
        .rows_affected();
        if inserted == 0 {
            return Ok(None);
        }
        Ok(Some(RunLock {
            pool: pool.clone(),
            run_name: run_name.to_owned(),
            owner,
        }))
    }

    pub async fn free(self) -> sqlx::Result<bool> {
        let deleted = sqlx::query!(
            "DELETE FROM run_locks WHERE run_name = $1 AND owner = $2",
            self.run_name,
            self.owner,
        )
        .execute(&self.pool)
        .await?
        .rows_affected();
        Ok(deleted == 1)
    }
}
