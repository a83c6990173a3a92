use tokio_postgres::Client;

pub use crate::round::Round;

/// Stores a reading unless a later round has been here.
pub async fn store(db: &Client, round: &Round, meter: i64, reading: i64) -> anyhow::Result<()> {
    let n = db
        .execute(
            "UPDATE meters SET reading = $2, fence = $3 WHERE id = $1 AND fence < $3",
            &[&meter, &reading, &round.fence],
        )
        .await?;
    anyhow::ensure!(n == 1, "meter {meter}: a later round has been here");
    Ok(())
}
