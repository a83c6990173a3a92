use rusqlite::{params, Connection, OptionalExtension};
use uuid::Uuid;

#[derive(Debug)]
pub struct SyncLease {
    name: &'static str,
    holder: String,
    pub token: i64,
}

pub fn acquire(db: &Connection, name: &'static str) -> rusqlite::Result<Option<SyncLease>> {
    let holder = Uuid::new_v4().to_string();
    let token = db
        .query_row(
            "INSERT INTO sync_leases (name, holder, fencing_token, expires_at)
             VALUES (?1, ?2, 1, unixepoch() + 60)
             ON CONFLICT (name) DO UPDATE
                SET holder = excluded.holder,
                    fencing_token = sync_leases.fencing_token + 1,
                    expires_at = excluded.expires_at
              WHERE sync_leases.expires_at < unixepoch()
             RETURNING fencing_token",
            params![name, holder],
            |row| row.get(0),
        )
        .optional()?;
    Ok(token.map(|token| SyncLease {
        name,
        holder,
        token,
    }))
}

impl SyncLease {
    pub fn renew(&self, db: &Connection) -> rusqlite::Result<bool> {
        let n = db.execute(
            "UPDATE sync_leases SET expires_at = unixepoch() + 60
              WHERE name = ?1 AND holder = ?2 AND fencing_token = ?3",
            params![self.name, self.holder, self.token],
        )?;
        Ok(n == 1)
    }

    pub fn release(self, db: &Connection) -> rusqlite::Result<bool> {
        let n = db.execute(
            "UPDATE sync_leases SET expires_at = 0
              WHERE name = ?1 AND holder = ?2 AND fencing_token = ?3",
            params![self.name, self.holder, self.token],
        )?;
        Ok(n == 1)
    }
}
