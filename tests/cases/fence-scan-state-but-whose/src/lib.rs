use rusqlite::{params, Connection, OptionalExtension};

const TAKE: &str = "
UPDATE scans SET state = 'busy', busy_since = unixepoch()
WHERE id = (SELECT id FROM scans WHERE state = 'new' ORDER BY id LIMIT 1)
RETURNING id, path";

const RELEASE_STUCK: &str = "UPDATE scans SET state = 'new', busy_since = NULL
WHERE state = 'busy' AND busy_since < unixepoch() - 600";

pub struct Scan {
    pub id: i64,
    pub path: String,
}

/// Scanner processes share the file; each takes one path after the other.
pub struct Scans {
    db: Connection,
}

impl Scans {
    pub fn open(file: &str) -> rusqlite::Result<Self> {
        let db = Connection::open(file)?;
        db.execute_batch(include_str!("../migrations/001.sql"))?;
        Ok(Self { db })
    }

    pub fn take(&self) -> rusqlite::Result<Option<Scan>> {
        self.db
            .query_row(TAKE, [], |r| {
                Ok(Scan {
                    id: r.get(0)?,
                    path: r.get(1)?,
                })
            })
            .optional()
    }

    pub fn finish(&self, scan: Scan, findings: &str) -> anyhow::Result<()> {
        let state = if findings.is_empty() { "ok" } else { "bad" };
        let n = self.db.execute(
            "UPDATE scans SET state = ?2, findings = ?3 WHERE id = ?1 AND state = 'busy'",
            params![scan.id, state, findings],
        )?;
        anyhow::ensure!(n == 1, "scan {} is not busy", scan.id);
        Ok(())
    }

    /// Frees what crashed scanners left behind.
    pub fn release_stuck(&self) -> rusqlite::Result<usize> {
        self.db.execute(RELEASE_STUCK, [])
    }
}
