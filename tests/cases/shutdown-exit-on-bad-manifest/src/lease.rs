use std::time::Duration;

use anyhow::Result;
use sqlx::PgPool;
use uuid::Uuid;

pub struct Lease {
    environment: String,
    holder: String,
}

pub async fn take(pool: &PgPool, environment: &str) -> Result<Option<Lease>> {
    let holder = Uuid::new_v4().to_string();
    let r = sqlx::query(
        "INSERT INTO deploy_lease VALUES ($1, $2, now() + interval '1 minute')
         ON CONFLICT (environment) DO UPDATE
            SET holder = excluded.holder, valid_until = excluded.valid_until
          WHERE deploy_lease.valid_until < now()",
    )
    .bind(environment)
    .bind(&holder)
    .execute(pool)
    .await?;
    Ok((r.rows_affected() == 1).then(|| Lease {
        environment: environment.to_owned(),
        holder,
    }))
}

/// Comes back when the lease cannot be kept.
pub async fn keep(pool: &PgPool, lease: &Lease, every: Duration) -> anyhow::Error {
    let mut failed = 0;
    loop {
        tokio::time::sleep(every).await;
        let r = sqlx::query(
            "UPDATE deploy_lease SET valid_until = now() + interval '1 minute'
              WHERE environment = $1 AND holder = $2",
        )
        .bind(&lease.environment)
        .bind(&lease.holder)
        .execute(pool)
        .await;
        match r {
            Ok(r) if r.rows_affected() == 1 => failed = 0,
            Ok(_) => return anyhow::anyhow!("lease of {} lost", lease.environment),
            Err(e) => {
                failed += 1;
                if failed == 2 {
                    return e.into();
                }
            }
        }
    }
}

pub async fn give_back(pool: &PgPool, lease: &Lease) -> Result<bool> {
    let r = sqlx::query("DELETE FROM deploy_lease WHERE environment = $1 AND holder = $2")
        .bind(&lease.environment)
        .bind(&lease.holder)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() == 1)
}
