use deadpool_postgres::Pool;

#[derive(Clone)]
pub struct Shipments {
    pool: Pool,
}

const SET_STATE: &str = "
    UPDATE shipments
       SET state = $2, fencing_token = $3
     WHERE id = $1
       AND fencing_token < $3";

impl Shipments {
    pub fn new(pool: Pool) -> Self {
        Shipments { pool }
    }

    pub async fn in_state(&self, state: &str) -> anyhow::Result<Vec<i64>> {
        let client = self.pool.get().await?;
        let rows = client
            .query(
                "SELECT id FROM shipments WHERE state = $1 ORDER BY id",
                &[&state],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    pub async fn set_state(&self, id: i64, state: &str, token: i64) -> anyhow::Result<()> {
        let client = self.pool.get().await?;
        let n = client.execute(SET_STATE, &[&id, &state, &token]).await?;
        anyhow::ensure!(n == 1, "shipment {id} has a newer dispatcher than {token}");
        Ok(())
    }
}
