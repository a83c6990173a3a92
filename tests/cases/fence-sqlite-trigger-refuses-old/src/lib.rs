use rusqlite::{params, Connection};

mod embedded {
    refinery::embed_migrations!("migrations");
}

#[derive(Debug, thiserror::Error)]
pub enum SluiceError {
    #[error("a later keeper has set this sluice")]
    Stale,
    #[error("no such sluice")]
    Unknown,
    #[error(transparent)]
    Db(rusqlite::Error),
}

impl From<rusqlite::Error> for SluiceError {
    fn from(e: rusqlite::Error) -> Self {
        match e {
            rusqlite::Error::SqliteFailure(_, Some(ref m)) if m == "stale fence" => SluiceError::Stale,
            e => SluiceError::Db(e),
        }
    }
}

pub fn migrate(db: &mut Connection) -> Result<(), refinery::Error> {
    embedded::migrations::runner().run(db)?;
    Ok(())
}

/// Sets the level on behalf of the keeper whose lease carries `fence`.
pub fn set_level(db: &Connection, sluice: i64, level: i64, fence: i64) -> Result<(), SluiceError> {
    let n = db.execute(
        "UPDATE sluices SET level = ?2, fence = ?3 WHERE id = ?1",
        params![sluice, level, fence],
    )?;
    if n == 0 {
        return Err(SluiceError::Unknown);
    }
    Ok(())
}
