use anyhow::bail;
use rusqlite::{named_params, Connection};

use crate::lease::acquire;

pub struct Price {
    pub article: String,
    pub cents: i64,
}

/// Takes over the prices that the head office has sent.
pub fn apply(db: &Connection, prices: &[Price]) -> anyhow::Result<usize> {
    let Some(lease) = acquire(db, "prices")? else {
        bail!("another kiosk process is at it");
    };
    let applied = apply_with(db, prices, lease.token);
    if !lease.release(db)? {
        eprintln!("the sync lease had run out");
    }
    applied
}

fn apply_with(db: &Connection, prices: &[Price], token: i64) -> anyhow::Result<usize> {
    let mut upsert = db.prepare(
        "INSERT INTO prices (article, cents, fencing_token)
         VALUES (:article, :cents, :token)
         ON CONFLICT (article) DO UPDATE
            SET cents = excluded.cents, fencing_token = excluded.fencing_token
          WHERE prices.fencing_token < excluded.fencing_token",
    )?;
    for price in prices {
        let n = upsert.execute(named_params! {
            ":article": price.article,
            ":cents": price.cents,
            ":token": token,
        })?;
        if n == 0 {
            bail!("{}: token {token} is stale", price.article);
        }
    }
    Ok(prices.len())
}
