//! Fenced transactions in an SQLite file: the fence row's statements, the claim, and what a transaction may do.
//!
//! SQLite has one writer at a time for the whole file, and no limit to how long that may take: a process that is
//! paused in the middle of a transaction keeps all others out until it goes on or ends.

mod failure;
mod transaction;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

pub use transaction::FencedTransaction;

use self::failure::failure;
use super::{FenceError, Resource, verdict};
use crate::sqlite_desk::Desk;
use crate::tenure::Tenure;

/// The table of fence rows. [`SqliteFence::open`] makes it. The types are those of other databases; the check makes
/// SQLite keep to them.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_fence (
    resource TEXT NOT NULL PRIMARY KEY,
    last_token BIGINT NOT NULL DEFAULT 0 CHECK (typeof(last_token) = 'integer'),
    writes BIGINT NOT NULL DEFAULT 0
) WITHOUT ROWID;
";

const CLAIM: &str = "\
INSERT INTO leasehold_fence AS fence (resource, last_token) VALUES (?1, ?2)
ON CONFLICT (resource) DO UPDATE SET last_token = excluded.last_token
WHERE fence.last_token < excluded.last_token";

const ENTER: &str = "\
UPDATE leasehold_fence SET writes = writes + 1 WHERE resource = ?1 AND last_token = ?2";

const STORED: &str = "SELECT last_token FROM leasehold_fence WHERE resource = ?1";

/// An SQLite file whose writes are fenced. Clones share one connection, which a thread of its own uses.
#[derive(Debug, Clone)]
pub struct SqliteFence {
    desk: Desk,
}

impl SqliteFence {
    /// Opens the file, and creates it and the table of fence rows if they are not there. Blocks while it does.
    ///
    /// # Errors
    /// [`FenceError::Database`] when the file cannot be opened or is no database.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FenceError> {
        const ACTION: &str = "opening the file";
        let connection = Connection::open(path).map_err(|error| failure(ACTION, error))?;
        connection.busy_timeout(Duration::from_secs(5)).map_err(|error| failure(ACTION, error))?;
        for (setting, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
            connection.pragma_update(None, setting, value).map_err(|error| failure(ACTION, error))?;
        }
        connection.execute_batch(SCHEMA).map_err(|error| failure(ACTION, error))?;
        let desk = Desk::start(connection).map_err(|error| FenceError::Database {
            action: "starting its thread",
            cause: error.into(),
            advice: "the system has no more threads to give",
        })?;
        Ok(Self { desk })
    }

    /// Raises the fence of `resource` to the lease's token. Do it before the first read of what you will write:
    /// from then on no earlier holder can change it.
    ///
    /// May be repeated under the same lease. Cancel-safe: it either happened or not.
    ///
    /// # Errors
    /// [`FenceError::Stale`] when the storage has seen a newer token, [`FenceError::Lost`] when the lease has
    /// ended, and the database's own.
    pub async fn claim(
        &self,
        tenure: &Tenure,
        resource: impl TryInto<Resource, Error: Into<crate::store::Cause>>,
    ) -> Result<Claimed, FenceError> {
        const ACTION: &str = "a claim";
        let resource = Resource::of_claim(resource)?;
        let (token, name, open) = (tenure.token(), resource.clone(), tenure.works().token());
        let raised = self.desk.ask(move |connection, _abandoned| {
            let _until_done = open;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let raised = transaction.execute(CLAIM, params![name.as_str(), token.as_i64()])?;
            let stored: Option<i64> =
                transaction.query_row(STORED, [name.as_str()], |row| row.get(0)).optional()?;
            transaction.commit()?;
            Ok((raised, stored))
        });
        let (raised, stored) = tenure
            .run(raised)
            .await?
            .map_err(failure::closed)?
            .map_err(|error: rusqlite::Error| failure(ACTION, error))?;
        // Not raised and equal: this lease has claimed it before, perhaps without hearing the answer.
        if raised == 1 || stored == Some(token.as_i64()) {
            return Ok(Claimed { fence: self.clone(), tenure: tenure.clone(), resource });
        }
        Err(verdict(resource.to_string(), token, stored))
    }
}

/// A resource that a lease has claimed.
#[derive(Debug)]
pub struct Claimed {
    fence: SqliteFence,
    tenure: Tenure,
    resource: Resource,
}

impl Claimed {
    /// Runs `work` in a transaction that is committed only if this lease's token is still the newest that the
    /// resource has seen, `work` succeeds and the lease was not lost meanwhile. Else it is rolled back, and the
    /// rollback has been done when this returns. `work` runs on the connection's own thread and may block.
    ///
    /// Cancel-safe: when this is dropped, `work` runs to its end and is rolled back (unless the commit had begun),
    /// and the lease is not given back before that.
    ///
    /// # Errors
    /// [`FenceError`] as it says; [`FenceError::Work`] with `work`'s own error.
    pub async fn transaction<T, E>(
        &self,
        work: impl FnOnce(&FencedTransaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, FenceError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.tenure.check()?;
        let (tenure, resource, open) =
            (self.tenure.clone(), self.resource.clone(), self.tenure.works().token());
        let done = self.fence.desk.ask(move |connection, abandoned| {
            let _until_done = open;
            fenced(connection, &tenure, &resource, abandoned, work)
        });
        done.await.map_err(|error| failure::closed(error).widen())?
    }

    /// The resource's name.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }
}

/// The whole transaction. Every way out of it but the last rolls back, before the next request is looked at.
fn fenced<T, E>(
    connection: &mut Connection,
    tenure: &Tenure,
    resource: &Resource,
    abandoned: &dyn Fn() -> bool,
    work: impl FnOnce(&FencedTransaction<'_>) -> Result<T, E>,
) -> Result<T, FenceError<E>> {
    const ACTION: &str = "a fenced transaction";
    let database = |error| failure(ACTION, error).widen();
    let token = tenure.token();
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(database)?;
    let entered = transaction.execute(ENTER, params![resource.as_str(), token.as_i64()]).map_err(database)?;
    if entered != 1 {
        let stored = transaction.query_row(STORED, [resource.as_str()], |row| row.get(0)).optional();
        return Err(verdict(resource.to_string(), token, stored.map_err(database)?));
    }
    let fenced = FencedTransaction::new(transaction, token);
    let value = work(&fenced).map_err(FenceError::Work)?;
    // It saves a useless commit; what makes it safe is the fence row, and that SQLite has one writer.
    tenure.check()?;
    if abandoned() {
        tracing::debug!(%resource, %token, "rolled back, since the caller has gone");
        return Err(FenceError::Database {
            action: ACTION,
            cause: "the caller has gone".into(),
            advice: "the transaction did not happen",
        });
    }
    fenced.commit().map_err(database)?;
    Ok(value)
}
