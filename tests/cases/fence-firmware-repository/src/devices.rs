use std::future::Future;

use deadpool_postgres::Pool;

#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    Yes,
    /// A newer holder has written before.
    Stale,
}

pub trait Devices: Send + Sync {
    fn set_firmware(
        &self,
        id: i64,
        firmware: &str,
        slot: char,
        token: i64,
    ) -> impl Future<Output = anyhow::Result<Written>> + Send;

    fn seen(&self, id: i64) -> impl Future<Output = anyhow::Result<()>> + Send;
}

pub struct PgDevices {
    pool: Pool,
}

impl Devices for PgDevices {
    async fn set_firmware(
        &self,
        id: i64,
        firmware: &str,
        slot: char,
        token: i64,
    ) -> anyhow::Result<Written> {
        let client = self.pool.get().await?;
        let row = client
            .query_opt(
                "UPDATE devices AS d
                    SET firmware = $2, slot = $3, fencing_token = $4
                  WHERE d.id = $1 AND d.fencing_token < $4
              RETURNING d.id",
                &[&id, &firmware, &slot.to_string(), &token],
            )
            .await?;
        Ok(match row {
            Some(_) => Written::Yes,
            None => Written::Stale,
        })
    }

    async fn seen(&self, id: i64) -> anyhow::Result<()> {
        let client = self.pool.get().await?;
        client
            .execute(
                "UPDATE devices SET last_seen_at = now() WHERE id = $1",
                &[&id],
            )
            .await?;
        Ok(())
    }
}
