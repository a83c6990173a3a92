use std::time::Duration;

use anyhow::{Result, anyhow};
use sqlx::PgPool;
use uuid::Uuid;

async fn take(pool: &PgPool, carrier: &str, me: Uuid) -> sqlx::Result<bool> {
    let r = sqlx::query(
        "INSERT INTO carrier_lease (carrier, worker, until) VALUES ($1, $2, now() + interval '30 s')
         ON CONFLICT (carrier) DO UPDATE SET worker = excluded.worker, until = excluded.until
          WHERE carrier_lease.until < now()",
    )
    .bind(carrier)
    .bind(me)
    .execute(pool)
    .await?;
    Ok(r.rows_affected() == 1)
}

async fn keep(pool: &PgPool, carrier: &str, me: Uuid) -> anyhow::Error {
    let mut failures = 0;
    loop {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let r = sqlx::query(
            "UPDATE carrier_lease SET until = now() + interval '30 s' WHERE carrier = $1 AND worker = $2",
        )
        .bind(carrier)
        .bind(me)
        .execute(pool)
        .await;
        match r {
            Ok(r) if r.rows_affected() == 1 => failures = 0,
            Ok(_) => return anyhow!("{carrier} is served by another worker"),
            Err(e) => {
                failures += 1;
                tracing::warn!("keeping {carrier}: {e}");
                if failures == 2 {
                    return anyhow!("lease of {carrier} given up");
                }
            }
        }
    }
}

async fn give_back(pool: &PgPool, carrier: &str, me: Uuid) -> sqlx::Result<bool> {
    let r = sqlx::query("DELETE FROM carrier_lease WHERE carrier = $1 AND worker = $2")
        .bind(carrier)
        .bind(me)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() == 1)
}

/// Hands the parcels of one carrier over, if nobody else does.
pub async fn serve(pool: &PgPool, carrier: &str) -> Result<()> {
    let me = Uuid::new_v4();
    if !take(pool, carrier, me).await? {
        return Ok(());
    }
    let result = tokio::select! {
        r = hand_over(carrier) => r,
        e = keep(pool, carrier, me) => Err(e),
    };
    if !give_back(pool, carrier, me).await? {
        tracing::warn!(carrier, "lease was lost");
    }
    result
}

async fn hand_over(carrier: &str) -> Result<()> {
    let http = reqwest::Client::new();
    let parcels = http
        .get(format!("http://wms.internal/{carrier}/ready"))
        .send()
        .await?
        .error_for_status()?;
    for parcel in parcels.text().await?.lines() {
        http.post(format!("http://{carrier}.internal/parcels/{parcel}"))
            .send()
            .await?
            .error_for_status()?;
    }
    Ok(())
}
