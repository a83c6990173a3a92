use sqlx::PgPool;
use uuid::Uuid;

pub struct Renders {
    pool: PgPool,
}

#[derive(Debug, sqlx::FromRow)]
pub struct Render {
    pub id: i64,
    pub scene: String,
}

impl Renders {
    pub fn new(pool: PgPool) -> Self {
        Renders { pool }
    }

    /// The next scene that is pending or whose worker has not come back.
    pub async fn claim(&self) -> sqlx::Result<Option<Render>> {
        let claim_token = Uuid::new_v4();
        sqlx::query_as!(
            Render,
            r#"
            UPDATE renders
               SET state = 'running',
                   claim_token = $1,
                   claimed_until = now() + interval '20 minutes'
             WHERE id = (
                   SELECT id FROM renders
                    WHERE state = 'pending'
                       OR (state = 'running' AND claimed_until < now())
                    ORDER BY id
                    LIMIT 1
                    FOR UPDATE SKIP LOCKED)
            RETURNING id, scene
            "#,
            claim_token,
        )
        .fetch_optional(&self.pool)
        .await
    }

    pub async fn done(&self, id: i64, output: &str) -> sqlx::Result<bool> {
        let hit = sqlx::query!(
            "UPDATE renders SET state = 'done', output = $2 WHERE id = $1 AND state = 'running'",
            id,
            output,
        )
        .execute(&self.pool)
        .await?;
        Ok(hit.rows_affected() == 1)
    }

    pub async fn failed(&self, id: i64, problem: &str) -> sqlx::Result<bool> {
        let hit = sqlx::query!(
            "UPDATE renders SET state = 'failed', problem = $2 WHERE id = $1 AND state = 'running'",
            id,
            problem,
        )
        .execute(&self.pool)
        .await?;
        Ok(hit.rows_affected() == 1)
    }
}
