use etcd_client::Client as Etcd;
use tokio_postgres::Client as Postgres;

use crate::ownership::{disown, own};

pub struct Segments {
    etcd: Etcd,
    db: Postgres,
}

impl Segments {
    pub fn new(etcd: Etcd, db: Postgres) -> Self {
        Segments { etcd, db }
    }

    pub async fn publish(&mut self, segment: i64, uri: &str) -> anyhow::Result<bool> {
        let Some(ownership) = own(&mut self.etcd, segment).await? else {
            return Ok(false);
        };
        let published = self.upsert(segment, uri, ownership.fence).await;
        disown(&mut self.etcd, ownership).await?;
        published
    }

    async fn upsert(&self, segment: i64, uri: &str, fence: i64) -> anyhow::Result<bool> {
        let statement = self
            .db
            .prepare(
                "INSERT INTO segments AS s (id, uri, fencing_token)
                 VALUES ($1, $2, $3)
                 ON CONFLICT (id) DO UPDATE
                    SET uri = EXCLUDED.uri,
                        fencing_token = EXCLUDED.fencing_token,
                        written_at = now()
                  WHERE s.fencing_token < EXCLUDED.fencing_token",
            )
            .await?;
        let n = self
            .db
            .execute(&statement, &[&segment, &uri, &fence])
            .await?;
        if n == 0 {
            tracing::warn!(segment, fence, "a newer writer has published");
        }
        Ok(n == 1)
    }
}
