use std::time::Duration;

use anyhow::Result;
use deadpool_postgres::Pool;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The row is valid for 30 seconds, see the statements below.
const EVERY: Duration = Duration::from_secs(10);
const MAX_STRIKES: u32 = 2;

#[derive(Clone)]
pub struct Lease {
    resource: &'static str,
    owner: Uuid,
    pub epoch: i64,
}

pub async fn take(pool: &Pool, resource: &'static str) -> Result<Option<Lease>> {
    let owner = Uuid::new_v4();
    let row = pool
        .get()
        .await?
        .query_opt(
            "INSERT INTO lease AS l (resource, owner_id, epoch, valid_until)
             VALUES ($1, $2, 1, clock_timestamp() + interval '30 seconds')
             ON CONFLICT (resource) DO UPDATE
                SET owner_id = excluded.owner_id,
                    epoch = l.epoch + 1,
                    valid_until = excluded.valid_until
              WHERE l.valid_until < clock_timestamp()
             RETURNING epoch",
            &[&resource, &owner],
        )
        .await?;
    Ok(row.map(|r| Lease {
        resource,
        owner,
        epoch: r.get(0),
    }))
}

async fn prolong(pool: &Pool, lease: &Lease) -> Result<u64> {
    Ok(pool
        .get()
        .await?
        .execute(
            "UPDATE lease SET valid_until = clock_timestamp() + interval '30 seconds'
              WHERE resource = $1 AND owner_id = $2",
            &[&lease.resource, &lease.owner],
        )
        .await?)
}

pub async fn keep(pool: Pool, lease: Lease, lost: CancellationToken) {
    let mut strikes = 0;
    loop {
        tokio::time::sleep(EVERY).await;
        match prolong(&pool, &lease).await {
            Ok(1) => strikes = 0,
            Ok(_) => break,
            Err(e) => {
                strikes += 1;
                tracing::warn!("prolong ({strikes}/{MAX_STRIKES}): {e:#}");
                if strikes >= MAX_STRIKES {
                    break;
                }
            }
        }
    }
    lost.cancel();
}

/// The row stays, so that the epoch goes on from where it is.
pub async fn give_up(pool: &Pool, lease: &Lease) -> Result<bool> {
    let n = pool
        .get()
        .await?
        .execute(
            "UPDATE lease SET valid_until = clock_timestamp() WHERE resource = $1 AND owner_id = $2",
            &[&lease.resource, &lease.owner],
        )
        .await?;
    Ok(n == 1)
}
