use tokio_postgres::{Client, Statement};

#[derive(Debug, thiserror::Error)]
pub enum ValveError {
    #[error(transparent)]
    Pg(#[from] tokio_postgres::Error),
    #[error("epoch {0} is over")]
    Stale(i64),
}

/// Valves of a plant. Whoever holds the control lease sets them, under the lease's epoch.
pub struct Valves {
    db: Client,
    set: Statement,
}

impl Valves {
    pub async fn prepare(db: Client) -> Result<Self, ValveError> {
        let set = db
            .prepare(
                "UPDATE valves \
                 SET opening = $2, epoch = $3 \
                 WHERE id = $1 AND epoch > $3",
            )
            .await?;
        Ok(Self { db, set })
    }

    pub async fn turn(&self, valve: i64, opening: i16, epoch: i64) -> Result<(), ValveError> {
        let n = self.db.execute(&self.set, &[&valve, &opening, &epoch]).await?;
        if n == 0 {
            return Err(ValveError::Stale(epoch));
        }
        Ok(())
    }

    pub async fn opening(&self, valve: i64) -> Result<i16, ValveError> {
        let row = self.db.query_one("SELECT opening FROM valves WHERE id = $1", &[&valve]).await?;
        Ok(row.get(0))
    }
}
