use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

pub struct Lease {
    currency: String,
    holder: Uuid,
}

pub async fn take(pool: &PgPool, currency: &str) -> sqlx::Result<Option<Lease>> {
    let holder = Uuid::new_v4();
    let won = sqlx::query_scalar::<_, Uuid>(
        "INSERT INTO payout_lease (currency, holder, expires_at)
         VALUES ($1, $2, now() + interval '30 seconds')
         ON CONFLICT (currency) DO UPDATE
            SET holder = excluded.holder, expires_at = excluded.expires_at
          WHERE payout_lease.expires_at < now()
         RETURNING holder",
    )
    .bind(currency)
    .bind(holder)
    .fetch_optional(pool)
    .await?;
    Ok(won.map(|holder| Lease {
        currency: currency.to_owned(),
        holder,
    }))
}

pub async fn keep(pool: &PgPool, lease: &Lease) -> anyhow::Error {
    let mut previous: Option<sqlx::Error> = None;
    loop {
        tokio::time::sleep(Duration::from_secs(8)).await;
        let r = sqlx::query(
            "UPDATE payout_lease SET expires_at = now() + interval '30 seconds'
              WHERE currency = $1 AND holder = $2",
        )
        .bind(&lease.currency)
        .bind(lease.holder)
        .execute(pool)
        .await;
        match (r, previous.take()) {
            (Ok(r), _) if r.rows_affected() == 1 => {}
            (Ok(_), _) => return anyhow::anyhow!("payout lease lost"),
            (Err(e), None) => previous = Some(e),
            (Err(e), Some(_)) => {
                return anyhow::Error::new(e).context("payout lease not renewed twice");
            }
        }
    }
}

pub async fn release(pool: &PgPool, lease: &Lease) -> sqlx::Result<bool> {
    let r = sqlx::query("DELETE FROM payout_lease WHERE currency = $1 AND holder = $2")
        .bind(&lease.currency)
        .bind(lease.holder)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() == 1)
}
