use mysql_async::prelude::*;
use mysql_async::{params, Pool};

use crate::outcome::exactly_one;
use crate::WriteError;

#[derive(Clone, Debug)]
pub struct Tariff {
    pub zone: String,
    pub cents_per_kwh: i32,
}

pub struct Tariffs {
    pool: Pool,
}

impl Tariffs {
    pub fn new(pool: Pool) -> Self {
        Tariffs { pool }
    }

    pub async fn all(&self) -> Result<Vec<Tariff>, WriteError> {
        let mut conn = self.pool.get_conn().await?;
        let rows: Vec<(String, i32)> = conn
            .query("SELECT zone, cents_per_kwh FROM tariffs ORDER BY zone")
            .await?;
        Ok(rows
            .into_iter()
            .map(|(zone, cents_per_kwh)| Tariff {
                zone,
                cents_per_kwh,
            })
            .collect())
    }

    /// A new zone; an existing one is left alone.
    pub async fn add(&self, tariff: &Tariff) -> Result<bool, WriteError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "INSERT IGNORE INTO tariffs (zone, cents_per_kwh) VALUES (:zone, :cents)",
            params! { "zone" => &tariff.zone, "cents" => tariff.cents_per_kwh },
        )
        .await?;
        Ok(conn.affected_rows() == 1)
    }

    /// Called by the holder of the pricing lease, with its token.
    pub async fn set(&self, tariff: &Tariff, token: u64) -> Result<(), WriteError> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            r"UPDATE tariffs
                 SET cents_per_kwh = :cents,
                     fencing_token = :token
               WHERE zone = :zone
                 AND :token > fencing_token",
            params! {
                "cents" => tariff.cents_per_kwh,
                "zone" => &tariff.zone,
                "token" => token,
            },
        )
        .await?;
        exactly_one(&conn)
    }
}
