use sqlx::PgPool;

#[derive(Clone)]
pub struct Segments {
    pool: PgPool,
}

#[derive(Debug, sqlx::FromRow)]
pub struct Segment {
    pub id: String,
    pub name: String,
    pub size: i64,
}

impl Segments {
    pub fn new(pool: PgPool) -> Self {
        Segments { pool }
    }

    pub async fn create(&self, id: &str, name: &str) -> sqlx::Result<()> {
        sqlx::query(r#"INSERT INTO "AudienceSegment" ("id", "name") VALUES ($1, $2)"#)
            .bind(id)
            .bind(name)
            .execute(&self.pool)
            .await
            .map(drop)
    }

    pub async fn members(&self, id: &str) -> sqlx::Result<i64> {
        sqlx::query_scalar(r#"SELECT COUNT(*) FROM "SegmentMember" WHERE "segmentId" = $1"#)
            .bind(id)
            .fetch_one(&self.pool)
            .await
    }

    /// False if a newer recount has written already.
    pub async fn set_size(&self, id: &str, size: i64, token: i64) -> sqlx::Result<bool> {
        let done = sqlx::query(
            r#"
                UPDATE "AudienceSegment"
                   SET "size" = $2, "fencingToken" = $3, "updatedAt" = now()
                 WHERE "id" = $1
                   AND "fencingToken" < $3
                "#,
        )
        .bind(id)
        .bind(size)
        .bind(token)
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
