use rusqlite::{params, Connection};

pub fn migrate(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(concat!(
        include_str!("../migrations/V1__base.sql"),
        include_str!("../migrations/V2__nozzle_fence.sql"),
    ))
}

/// The pressure of a nozzle, set under the fencing token of the lease on its machine.
pub fn set_pressure(db: &Connection, nozzle: i64, bar: i64, token: i64) -> anyhow::Result<()> {
    let n = db.execute(
        "UPDATE nozzles SET bar = ?1, fencing_token = ?2 WHERE id = ?3 AND fencing_token < ?2",
        params![bar, token, nozzle],
    )?;
    anyhow::ensure!(n > 0, "nozzle {nozzle}: token {token} is stale");
    Ok(())
}
