use sqlx::MySqlPool;

/// The wind park's controller; `fence` is the number of its election.
pub struct Park {
    pool: MySqlPool,
    fence: String,
}

impl Park {
    pub fn elected(pool: MySqlPool, fence: u64) -> Self {
        Self {
            pool,
            fence: fence.to_string(),
        }
    }

    pub async fn turn_blades(&self, turbine: u64, angle: i32) -> anyhow::Result<()> {
        let r = sqlx::query("UPDATE turbines SET blade_angle = ?, last_fence = ? WHERE id = ? AND last_fence < ?")
            .bind(angle)
            .bind(&self.fence)
            .bind(turbine)
            .bind(&self.fence)
            .execute(&self.pool)
            .await?;
        if r.rows_affected() == 0 {
            anyhow::bail!("turbine {turbine} obeys a later controller");
        }
        Ok(())
    }
}
