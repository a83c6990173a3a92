use sqlx::MySqlPool;

use crate::named::Named;

/// Sends the monthly statements to the bank, which takes one upload at a time.
pub async fn upload(pool: &MySqlPool, http: &reqwest::Client, url: &str, body: String) -> anyhow::Result<()> {
    let turn = Named::new(pool, "bank-upload");
    anyhow::ensure!(turn.get(10).await?, "another upload is under way");
    let sent = http.post(url).body(body).send().await;
    anyhow::ensure!(turn.release().await?, "the lock was not ours");
    sent?.error_for_status()?;
    Ok(())
}
