use deadpool_postgres::Pool;
use uuid::Uuid;

const PENDING: &str = "SELECT id FROM exports WHERE state = 'pending' ORDER BY id LIMIT $1";

const MARK: &str = "
    UPDATE exports SET state = 'running', worker = $2, started_at = now()
     WHERE id = ANY($1)
 RETURNING id, report";

const FINISH: &str = "
    UPDATE exports SET state = 'done', url = $3
     WHERE id = $1 AND worker = $2 AND state = 'running'";

#[derive(Debug)]
pub struct Export {
    pub id: i64,
    pub report: String,
}

pub struct Picker {
    pool: Pool,
}

impl Picker {
    pub fn new(pool: Pool) -> Self {
        Picker { pool }
    }

    /// Up to `limit` exports for this worker.
    pub async fn pick(&self, worker: Uuid, limit: i64) -> anyhow::Result<Vec<Export>> {
        let client = self.pool.get().await?;
        let ids: Vec<i64> = client
            .query(PENDING, &[&limit])
            .await?
            .iter()
            .map(|row| row.get(0))
            .collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = client.query(MARK, &[&ids, &worker]).await?;
        Ok(rows
            .iter()
            .map(|row| Export {
                id: row.get("id"),
                report: row.get("report"),
            })
            .collect())
    }

    /// False if the export is not this worker's any more.
    pub async fn finish(&self, id: i64, worker: Uuid, url: &str) -> anyhow::Result<bool> {
        let client = self.pool.get().await?;
        let n = client.execute(FINISH, &[&id, &worker, &url]).await?;
        Ok(n == 1)
    }
}
