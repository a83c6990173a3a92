use rusqlite::{params, Connection, OptionalExtension, Result};
use uuid::Uuid;

mod migrations {
    refinery::embed_migrations!("migrations");
}

pub fn open(path: &str) -> Result<Connection, Box<dyn std::error::Error>> {
    let mut db = Connection::open(path)?;
    migrations::migrations::runner().run(&mut db)?;
    Ok(db)
}

/// Several programs work on one database file; each background duty has one seat.
pub fn sit_down(db: &Connection, name: &str, seconds: i64) -> Result<Option<Uuid>> {
    let busy: Option<i64> = db
        .query_row(
            "SELECT 1 FROM seat WHERE name = ?1 AND sitter IS NOT NULL AND free_at > unixepoch()",
            [name],
            |r| r.get(0),
        )
        .optional()?;
    if busy.is_some() {
        return Ok(None);
    }
    let sitter = Uuid::new_v4();
    db.execute(
        "UPDATE seat SET sitter = ?2, free_at = unixepoch() + ?3 WHERE name = ?1",
        params![name, sitter.to_string(), seconds],
    )?;
    Ok(Some(sitter))
}

/// False when another program has sat down in the meantime.
pub fn stand_up(db: &Connection, name: &str, sitter: Uuid) -> Result<bool> {
    let n = db.execute(
        "UPDATE seat SET sitter = NULL, free_at = 0 WHERE name = ?1 AND sitter = ?2",
        params![name, sitter.to_string()],
    )?;
    Ok(n == 1)
}
