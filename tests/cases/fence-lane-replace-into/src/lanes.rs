use mysql_async::prelude::Queryable;
use mysql_async::{params, Pool};

#[derive(Clone, Debug)]
pub struct Assignment {
    pub lane: u32,
    pub truck: String,
    pub ready_at: String,
}

pub struct Lanes {
    pool: Pool,
}

impl Lanes {
    pub fn new(pool: Pool) -> Self {
        Lanes { pool }
    }

    /// Puts a truck on a lane, on behalf of the planner that holds the lease.
    pub async fn assign(&self, a: &Assignment, token: u64) -> anyhow::Result<()> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "REPLACE INTO lanes (lane, truck, ready_at, fencing_token) \
             VALUES (:lane, :truck, :ready_at, :token)",
            params! {
                "lane" => a.lane,
                "truck" => &a.truck,
                "ready_at" => &a.ready_at,
                "token" => token,
            },
        )
        .await?;
        Ok(())
    }

    pub async fn postpone(&self, lane: u32, ready_at: &str, token: u64) -> anyhow::Result<()> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "UPDATE lanes SET ready_at = :ready_at, fencing_token = :token \
              WHERE lane = :lane AND fencing_token < :token",
            params! { "lane" => lane, "ready_at" => ready_at, "token" => token },
        )
        .await?;
        anyhow::ensure!(
            conn.affected_rows() == 1,
            "lane {lane}: token {token} is stale"
        );
        Ok(())
    }

    pub async fn note(&self, a: &Assignment) -> anyhow::Result<()> {
        let mut conn = self.pool.get_conn().await?;
        conn.exec_drop(
            "INSERT INTO lane_history (lane, truck) VALUES (:lane, :truck)",
            params! { "lane" => a.lane, "truck" => &a.truck },
        )
        .await?;
        Ok(())
    }
}
