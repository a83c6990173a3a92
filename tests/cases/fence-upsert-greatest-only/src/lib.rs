use tokio_postgres::Client;

#[derive(Debug, thiserror::Error)]
pub enum PushError {
    #[error(transparent)]
    Pg(#[from] tokio_postgres::Error),
    #[error("site {0}: the configuration of a later publisher is in place")]
    Later(String),
}

/// The publisher of the edge's configuration, elected under the fencing token `fence`.
pub struct Publisher<'c> {
    db: &'c Client,
    fence: i64,
}

impl<'c> Publisher<'c> {
    pub fn new(db: &'c Client, fence: i64) -> Self {
        Self { db, fence }
    }

    pub async fn push(&self, site: &str, body: &str) -> Result<(), PushError> {
        let n = self
            .db
            .execute(
                "INSERT INTO edge_config (site, body, fence) VALUES ($1, $2, $3)
                 ON CONFLICT (site) DO UPDATE
                 SET body = EXCLUDED.body,
                     fence = GREATEST(edge_config.fence, EXCLUDED.fence)",
                &[&site, &body, &self.fence],
            )
            .await?;
        if n != 1 {
            return Err(PushError::Later(site.to_owned()));
        }
        Ok(())
    }
}
