use sqlx::MySqlPool;

use crate::Duty;

pub async fn limit(db: &MySqlPool, duty: &Duty, gantry: u32, kmh: u16) -> anyhow::Result<()> {
    let token = duty.fencing_token();
    let r = sqlx::query("UPDATE signs SET kmh = ?, fencing_token = ? WHERE gantry = ? AND fencing_token < ?")
        .bind(kmh)
        .bind(token)
        .bind(gantry)
        .bind(token)
        .execute(db)
        .await?;
    anyhow::ensure!(r.rows_affected() == 1, "gantry {gantry} obeys a later duty");
    Ok(())
}
