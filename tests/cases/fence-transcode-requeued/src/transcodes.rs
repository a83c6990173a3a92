use sqlx::{MySql, MySqlPool, QueryBuilder};
use uuid::Uuid;

#[derive(Debug, sqlx::FromRow)]
pub struct Transcode {
    pub id: u64,
    pub source: String,
}

#[derive(Default)]
pub struct Finished {
    pub url: Option<String>,
    pub seconds: Option<u32>,
}

pub struct Transcodes {
    pool: MySqlPool,
}

impl Transcodes {
    pub fn new(pool: MySqlPool) -> Self {
        Transcodes { pool }
    }

    pub async fn pick(&self) -> sqlx::Result<Option<Transcode>> {
        let mut tx = self.pool.begin().await?;
        let next: Option<Transcode> = sqlx::query_as(
            "SELECT id, source FROM transcodes WHERE state = 'queued'
              ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
        )
        .fetch_optional(&mut *tx)
        .await?;
        if let Some(next) = &next {
            sqlx::query(
                "UPDATE transcodes SET state = 'running', picked_by = ?, picked_at = NOW(6)
                  WHERE id = ?",
            )
            .bind(Uuid::new_v4().to_string())
            .bind(next.id)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(next)
    }

    pub async fn finish(&self, id: u64, finished: Finished) -> anyhow::Result<()> {
        let mut update = QueryBuilder::<MySql>::new("UPDATE transcodes SET state = 'done'");
        if let Some(url) = finished.url {
            update.push(", url = ").push_bind(url);
        }
        if let Some(seconds) = finished.seconds {
            update.push(", seconds = ").push_bind(seconds);
        }
        update
            .push(" WHERE id = ")
            .push_bind(id)
            .push(" AND state = 'running'");
        let n = update.build().execute(&self.pool).await?.rows_affected();
        anyhow::ensure!(n == 1, "transcode {id} is not running");
        Ok(())
    }
}
