use rusqlite::{named_params, Connection};

#[derive(Debug, thiserror::Error)]
pub enum TankError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("pump token {0} is out of date")]
    OldToken(i64),
}

pub struct Tanks(Connection);

impl Tanks {
    pub fn open(file: &str) -> Result<Self, TankError> {
        let c = Connection::open(file)?;
        c.execute_batch(include_str!("../schema.sql"))?;
        Ok(Self(c))
    }

    /// Books what was pumped while the pump's lease with this fencing token lasted.
    pub fn pumped(&self, tank: &str, litres: i64, token: i64) -> Result<(), TankError> {
        let mut stmt = self.0.prepare_cached(
            "UPDATE tanks SET litres = litres + :litres, seen_token = :token \
             WHERE name = :tank AND seen_token <= :token",
        )?;
        let n = stmt.execute(named_params! { ":litres": litres, ":token": token, ":tank": tank })?;
        if n != 1 {
            return Err(TankError::OldToken(token));
        }
        Ok(())
    }
}
