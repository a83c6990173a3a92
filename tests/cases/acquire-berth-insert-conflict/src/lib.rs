use sqlx::PgPool;
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum HarbourError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("berth {0} is held by another ship")]
    Held(String),
    #[error("berth {0} was lost")]
    Lost(String),
}

/// Holds on berths; a ship that does not sail in time loses its hold.
#[derive(Clone)]
pub struct Harbour {
    db: PgPool,
}

impl Harbour {
    pub async fn hold(&self, berth: &str) -> Result<Uuid, HarbourError> {
        let ship = Uuid::new_v4();
        let put = sqlx::query(
            "INSERT INTO berth_holds (berth, ship, ends_at) VALUES ($1, $2, clock_timestamp() + interval '10 min') \
             ON CONFLICT (berth) DO NOTHING",
        )
        .bind(berth)
        .bind(ship)
        .execute(&self.db)
        .await?;
        if put.rows_affected() == 0 {
            return Err(HarbourError::Held(berth.to_owned()));
        }
        Ok(ship)
    }

    pub async fn sail(&self, berth: &str, ship: Uuid) -> Result<(), HarbourError> {
        let gone: Option<String> =
            sqlx::query_scalar("DELETE FROM berth_holds WHERE berth = $1 AND ship = $2 RETURNING berth")
                .bind(berth)
                .bind(ship)
                .fetch_optional(&self.db)
                .await?;
        gone.map(|_| ()).ok_or_else(|| HarbourError::Lost(berth.to_owned()))
    }

    /// Called every few seconds.
    pub async fn sweep(&self) -> Result<u64, HarbourError> {
        let r = sqlx::query("DELETE FROM berth_holds WHERE ends_at < clock_timestamp()")
            .execute(&self.db)
            .await?;
        Ok(r.rows_affected())
    }
}
