use rusqlite::{Connection, Transaction};

pub struct Billboards {
    db: Connection,
}

impl Billboards {
    pub fn open(file: &str) -> rusqlite::Result<Self> {
        let db = Connection::open(file)?;
        db.execute_batch(include_str!("schema.sql"))?;
        Ok(Self { db })
    }

    /// `fence` comes with the lease on the billboard; the last lease wins.
    pub fn paint(&mut self, id: i64, text: &str, fence: i64) -> anyhow::Result<()> {
        let tx = self.db.transaction()?;
        let n = tx.execute(
            "UPDATE billboards SET text = ?2, fence = ?3 WHERE id = ?1 AND fence < ?3",
            (id, text, fence),
        )?;
        anyhow::ensure!(n == 1, "billboard {id} was painted by a later lease");
        tx.commit()?;
        Ok(())
    }

    /// Loads what the agency sent; boards that exist get the new text.
    pub fn import(&mut self, boards: &[(i64, String)]) -> rusqlite::Result<()> {
        let tx = self.db.transaction()?;
        for (id, text) in boards {
            put(&tx, *id, text)?;
        }
        tx.commit()
    }
}

fn put(tx: &Transaction<'_>, id: i64, text: &str) -> rusqlite::Result<usize> {
    tx.execute("INSERT OR REPLACE INTO billboards (id, text) VALUES (?1, ?2)", (id, text))
}
