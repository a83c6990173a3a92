//! Fenced transactions in an SQLite file: the fence row's statements, the claim, and what a transaction may do.
//!
//! SQLite has one writer at a time for the whole file, and no limit to how long that may take: a process that is
//! paused in the middle of a transaction keeps all others out until it goes on or ends.

mod failure;
mod schema;
mod transaction;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

pub use transaction::FencedTransaction;

use self::failure::failure;
use super::mark::{self, Mark, refused};
use super::{FenceError, Resource, RowFence, SchemaError};
use crate::sqlite_desk::Desk;
use crate::tenure::Tenure;

/// The table of fence rows. [`SqliteFence::open`] makes it. The types are those of other databases; the check makes
/// SQLite keep to them.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_fence (
    resource TEXT NOT NULL PRIMARY KEY,
    last_token BIGINT NOT NULL DEFAULT 0 CHECK (typeof(last_token) = 'integer'),
    holder BLOB NOT NULL DEFAULT x'',
    writes BIGINT NOT NULL DEFAULT 0
) WITHOUT ROWID;
";

/// For a table that was made before there was the column `holder`; [`SqliteFence::open`] does it. Rows that are there
/// count as held by nobody, so the next claim needs a larger token.
pub const UPGRADE: &str = "ALTER TABLE leasehold_fence ADD COLUMN holder BLOB NOT NULL DEFAULT x''";

const IS_UP_TO_DATE: &str = "SELECT count(*) FROM pragma_table_info('leasehold_fence') WHERE name = 'holder'";

const CLAIM: &str = "\
INSERT INTO leasehold_fence AS fence (resource, last_token, holder) VALUES (?1, ?2, ?3)
ON CONFLICT (resource) DO UPDATE SET last_token = excluded.last_token, holder = excluded.holder
WHERE fence.last_token < excluded.last_token";

const ENTER: &str = "\
UPDATE leasehold_fence SET writes = writes + 1 WHERE resource = ?1 AND last_token = ?2 AND holder = ?3";

const STORED: &str = "SELECT last_token, holder FROM leasehold_fence WHERE resource = ?1";

/// An SQLite file whose writes are fenced. Clones share one connection, which a thread of its own uses.
#[derive(Debug, Clone)]
pub struct SqliteFence {
    desk: Desk,
}

impl SqliteFence {
    /// Opens the file, and creates it and the table of fence rows if they are not there; adds the column of holders to
    /// a table that has none. Blocks while it does.
    ///
    /// # Errors
    /// [`FenceError::Database`] when the file cannot be opened or is no database.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FenceError> {
        const ACTION: &str = "opening the file";
        let mut connection = Connection::open(path).map_err(|error| failure(ACTION, error))?;
        connection.busy_timeout(Duration::from_secs(5)).map_err(|error| failure(ACTION, error))?;
        for (setting, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
            connection.pragma_update(None, setting, value).map_err(|error| failure(ACTION, error))?;
        }
        make_table(&mut connection).map_err(|error| failure(ACTION, error))?;
        let desk = Desk::start(connection).map_err(|error| FenceError::Database {
            action: "starting its thread",
            cause: error.into(),
            advice: "the system has no more threads to give",
        })?;
        Ok(Self { desk })
    }

    /// Looks whether the table of fence rows is there and as it must be, and the tables of `rows` with it. Asks for
    /// the real schema, so it finds what a migration elsewhere has done. For the start of a program, before it
    /// takes leases. Changes nothing; cancel-safe.
    ///
    /// # Errors
    /// [`SchemaError`] with the first thing that is wrong, and the statements that make it right.
    pub async fn verify(&self, rows: &[RowFence]) -> Result<(), SchemaError> {
        let rows = rows.to_vec();
        let verified = self.desk.ask(move |connection, _abandoned| schema::verify(connection, &rows)).await;
        verified.map_err(|error| SchemaError::Database { cause: failure::closed(error).into() })?
    }

    /// Raises the fence of `resource` to the lease's token. Do it before the first read of what you will write:
    /// from then on no earlier holder can change it.
    ///
    /// May be repeated under the same lease. Cancel-safe: it either happened or not.
    ///
    /// # Errors
    /// [`FenceError::Stale`] when the storage has seen a newer token, or this one from another lease,
    /// [`FenceError::Lost`] when this lease has ended, and the database's own.
    pub async fn claim(
        &self,
        tenure: &Tenure,
        resource: impl TryInto<Resource, Error: Into<crate::store::Cause>>,
    ) -> Result<Claimed, FenceError> {
        const ACTION: &str = "a claim";
        let resource = Resource::of_claim(resource)?;
        let (holder, name, open) = (tenure.clone(), resource.clone(), tenure.works().token());
        let claimed = self.desk.ask(move |connection, _abandoned| {
            let _until_done = open;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let (token, owner) = (holder.token().as_i64(), holder.owner());
            transaction.execute(CLAIM, params![name.as_str(), token, owner.as_bytes()])?;
            // Also when it was not raised: this lease may have claimed it before, perhaps without hearing the answer.
            let mark = stored(&transaction, &name)?;
            transaction.commit()?;
            Ok(mark)
        });
        let mark = tenure
            .run(claimed)
            .await?
            .map_err(failure::closed)?
            .map_err(|error: rusqlite::Error| failure(ACTION, error))?;
        mark::claimed(mark.as_ref(), tenure, &resource)?;
        Ok(Claimed { fence: self.clone(), tenure: tenure.clone(), resource })
    }
}

fn make_table(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)?;
    let is_up_to_date = |connection: &Connection| connection.query_row(IS_UP_TO_DATE, [], |row| row.get(0));
    if is_up_to_date(connection)? {
        return Ok(());
    }
    // Asked again under the lock: another process may be at it.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_up_to_date(&transaction)? {
        transaction.execute_batch(UPGRADE)?;
    }
    transaction.commit()
}

/// What the fence row of a resource says.
fn stored(connection: &Connection, resource: &Resource) -> rusqlite::Result<Option<Mark>> {
    let mark = |row: &Row<'_>| Ok(Mark { token: row.get(0)?, holder: row.get(1)? });
    connection.query_row(STORED, [resource.as_str()], mark).optional()
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
    let (token, owner) = (tenure.token(), tenure.owner());
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(database)?;
    let values = params![resource.as_str(), token.as_i64(), owner.as_bytes()];
    if transaction.execute(ENTER, values).map_err(database)? != 1 {
        let mark = stored(&transaction, resource).map_err(database)?;
        return Err(refused(mark.as_ref(), tenure, resource));
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
