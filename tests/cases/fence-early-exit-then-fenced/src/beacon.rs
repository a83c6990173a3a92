use tokio_postgres::Client;

use crate::watch::Watch;

pub async fn light(db: &Client, watch: &Watch, beacon: i64, colour: &str) -> anyhow::Result<()> {
    if !watch.is_held() {
        anyhow::bail!("the watch is over");
    }
    let n = db
        .execute(
            "UPDATE beacons SET colour = $1, last_revision = $2 WHERE id = $3 AND last_revision < $2",
            &[&colour, &watch.revision(), &beacon],
        )
        .await?;
    anyhow::ensure!(n == 1, "beacon {beacon} was lit by a later watch");
    Ok(())
}
