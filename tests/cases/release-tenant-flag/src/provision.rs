use deadpool_redis::Pool;

use crate::store::{Held, LockName};

pub struct Provisioner {
    pool: Pool,
    cloud: reqwest::Client,
    endpoint: String,
}

impl Provisioner {
    pub async fn provision(&self, tenant: i64) -> eyre::Result<bool> {
        let mut lock = Held::new(self.pool.clone(), LockName::Provision { tenant });
        if !lock.try_acquire().await? {
            tracing::info!(tenant, "provisioning is under way elsewhere");
            return Ok(false);
        }
        let result = self.create_bucket(tenant).await;
        lock.release().await?;
        result.map(|()| true)
    }

    async fn create_bucket(&self, tenant: i64) -> eyre::Result<()> {
        self.cloud
            .put(format!("{}/buckets/tenant-{tenant}", self.endpoint))
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
