use sqlx::{Executor, Postgres};

#[derive(Debug, thiserror::Error)]
pub enum ShutterError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("lease epoch {0} is superseded")]
    Superseded(i64),
}

const MOVE: &str = r#"
INSERT INTO shutters AS s (house, window_nr, percent, lease_epoch)
VALUES ($1, $2, $3, $4)
ON CONFLICT (house, window_nr) DO UPDATE
   SET percent = EXCLUDED.percent,
       lease_epoch = EXCLUDED.lease_epoch
 WHERE s.lease_epoch < EXCLUDED.lease_epoch
"#;

/// What the controller of a house may do, for as long as no other has been elected.
pub struct Controller {
    pub house: String,
    pub epoch: i64,
}

impl Controller {
    pub async fn move_shutter<'e, E>(&self, db: E, window_nr: i32, percent: i16) -> Result<(), ShutterError>
    where
        E: Executor<'e, Database = Postgres>,
    {
        let moved = sqlx::query(MOVE)
            .bind(&self.house)
            .bind(window_nr)
            .bind(percent)
            .bind(self.epoch)
            .execute(db)
            .await?;
        if moved.rows_affected() < 1 {
            return Err(ShutterError::Superseded(self.epoch));
        }
        Ok(())
    }
}
