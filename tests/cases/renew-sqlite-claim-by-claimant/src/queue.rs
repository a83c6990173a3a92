use anyhow::{Result, ensure};
use rusqlite::{Connection, OptionalExtension, named_params, params};

pub struct Queue {
    db: Connection,
}

#[derive(Clone)]
pub struct Job {
    pub id: i64,
    pub path: String,
    pub claimed_by: String,
}

impl Queue {
    pub fn open(path: &str) -> Result<Self> {
        let db = Connection::open(path)?;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        db.execute_batch(include_str!("../schema.sql"))?;
        Ok(Self { db })
    }

    pub fn claim(&mut self) -> Result<Option<Job>> {
        let claimed_by = uuid::Uuid::new_v4().to_string();
        let job = self
            .db
            .query_row(
                "UPDATE scan_job
                    SET state = 'running', claimed_by = :me, locked_until = unixepoch() + 60
                  WHERE id = (SELECT id FROM scan_job
                               WHERE state = 'new'
                                  OR (state = 'running' AND locked_until < unixepoch())
                               ORDER BY id LIMIT 1)
                 RETURNING id, path",
                named_params! { ":me": claimed_by },
                |r| Ok((r.get(0)?, r.get(1)?)),
            )
            .optional()?;
        Ok(job.map(|(id, path)| Job {
            id,
            path,
            claimed_by,
        }))
    }

    pub fn finish(&self, job: &Job, text: &str) -> Result<()> {
        let n = self.db.execute(
            "UPDATE scan_job SET state = 'done', text = ?3 WHERE id = ?1 AND claimed_by = ?2 AND state = 'running'",
            params![job.id, job.claimed_by, text],
        )?;
        ensure!(n == 1, "job {} was claimed by another process", job.id);
        Ok(())
    }
}
