use std::time::Duration;

use eyre::{Result, bail};
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{Instant, interval};
use uuid::Uuid;

/// As in the statements below.
const LEASE: Duration = Duration::from_secs(30);
const GUARD: Duration = Duration::from_secs(1);

pub struct RegionLease {
    pool: PgPool,
    region: String,
    holder: String,
    ends: watch::Sender<Instant>,
}

impl RegionLease {
    pub async fn take(pool: PgPool, region: &str) -> Result<Option<Self>> {
        let holder = Uuid::new_v4().to_string();
        let asked = Instant::now();
        let done = sqlx::query(
            "INSERT INTO controller_lease (region, holder, ends)
             VALUES ($1, $2, now() + interval '30 seconds')
             ON CONFLICT (region) DO UPDATE
                SET holder = excluded.holder, ends = excluded.ends
              WHERE controller_lease.ends < now()",
        )
        .bind(region)
        .bind(&holder)
        .execute(&pool)
        .await?;
        if done.rows_affected() != 1 {
            return Ok(None);
        }
        let (ends, _) = watch::channel(asked + LEASE - GUARD);
        Ok(Some(Self {
            pool,
            region: region.to_owned(),
            holder,
            ends,
        }))
    }

    pub fn ends(&self) -> watch::Receiver<Instant> {
        self.ends.subscribe()
    }

    pub async fn keep(&self) -> Result<()> {
        let mut tick = interval(LEASE / 3);
        let mut misses = 0;
        tick.tick().await;
        loop {
            tick.tick().await;
            let renewed = sqlx::query(
                "UPDATE controller_lease SET ends = now() + interval '30 seconds'
                  WHERE region = $1 AND holder = $2",
            )
            .bind(&self.region)
            .bind(&self.holder)
            .execute(&self.pool)
            .await;
            match renewed {
                Ok(r) if r.rows_affected() == 1 => {
                    misses = 0;
                    self.ends.send_replace(Instant::now() + LEASE - GUARD);
                }
                Ok(_) => bail!("{} is controlled by somebody else", self.region),
                Err(e) => {
                    misses += 1;
                    tracing::warn!(misses, "renewal: {e}");
                    if misses == 2 {
                        bail!("{}: two renewals failed", self.region);
                    }
                }
            }
        }
    }

    pub async fn give_back(&self) -> Result<bool> {
        let r = sqlx::query("DELETE FROM controller_lease WHERE region = $1 AND holder = $2")
            .bind(&self.region)
            .bind(&self.holder)
            .execute(&self.pool)
            .await?;
        Ok(r.rows_affected() == 1)
    }
}
