use tokio_postgres::Client;

#[derive(Debug, thiserror::Error)]
pub enum PumpError {
    #[error(transparent)]
    Pg(#[from] tokio_postgres::Error),
    #[error("pump {0} is under another controller")]
    Stale(i64),
}

mod embedded {
    refinery::embed_migrations!("migrations");
}

pub use embedded::migrations::runner;

const SET_RATE: &str =
    "UPDATE fuel_pumps SET rate = $2, last_writer = $4, fence_token = $3 WHERE id = $1 AND fence_token < $3";

pub async fn set_rate(db: &Client, pump: i64, rate: i32, token: i64, who: &str) -> Result<(), PumpError> {
    let n = db.execute(SET_RATE, &[&pump, &rate, &token, &who]).await?;
    if n == 1 {
        Ok(())
    } else {
        Err(PumpError::Stale(pump))
    }
}
