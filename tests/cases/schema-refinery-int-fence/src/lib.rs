use anyhow::Context;
use tokio_postgres::Client;

mod embedded {
    use refinery::embed_migrations;
    embed_migrations!("migrations");
}

pub async fn migrate(db: &mut Client) -> anyhow::Result<()> {
    embedded::migrations::runner().run_async(db).await.context("migrations")?;
    Ok(())
}

/// Writes what the ballast computer that holds the ship's lease has decided.
pub struct Ballast<'a> {
    pub db: &'a Client,
    pub ship: i64,
    pub token: i32,
}

impl Ballast<'_> {
    pub async fn fill(&self, tank: i16, litres: i64) -> anyhow::Result<()> {
        let filled = self
            .db
            .execute(
                "UPDATE ballast_tanks SET litres = $3, fencing_token = $4 \
                 WHERE ship = $1 AND tank = $2 AND fencing_token < $4",
                &[&self.ship, &tank, &litres, &self.token],
            )
            .await?;
        anyhow::ensure!(filled == 1, "tank {tank}: token {} is stale", self.token);
        Ok(())
    }
}
