//! Fenced transactions in MySQL and MariaDB (InnoDB): the fence row's statements, the claim, and what a transaction
//! may do.

mod connections;
mod failure;
mod schema;
mod session;

use std::sync::Arc;
use std::time::Duration;

use mysql_async::{Error, Opts};

pub use session::FencedTransaction;

use self::connections::{Connections, Lent};
use self::failure::failure;
use self::session::MysqlSession;
use super::mark::{self, Mark};
use super::work::{self, FINDING_OUT};
use super::{Ending, FenceError, Receipt, Resource, RowFence, SchemaError};
use crate::store::Cause;
use crate::tenure::Tenure;

/// The table of fence rows. Put it into a migration of the database that you protect. The resource is bytes, since
/// texts that differ in case or in spaces at the end would count as equal.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_fence (
    resource VARBINARY(512) NOT NULL PRIMARY KEY,
    last_token BIGINT NOT NULL DEFAULT 0,
    holder VARBINARY(16) NOT NULL DEFAULT '',
    writes BIGINT NOT NULL DEFAULT 0,
    recent VARBINARY(128) NOT NULL DEFAULT ''
) ENGINE = InnoDB;
";

/// For a table that was made before there were the columns `holder` and `recent`: put it into a migration, before any
/// process with this version runs. Rows that are there count as held by nobody, so the next claim needs a larger
/// token.
pub const UPGRADE: &str = "\
ALTER TABLE leasehold_fence ADD COLUMN holder VARBINARY(16) NOT NULL DEFAULT '',
    ADD COLUMN recent VARBINARY(128) NOT NULL DEFAULT '';
";

const IS_UP_TO_DATE: &str = "\
SELECT 1 FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = 'leasehold_fence' AND column_name = 'recent'";

/// The server's error number for a column that is there already.
const DUPLICATE_COLUMN: u16 = 1060;

/// Can only raise it, whatever was there. The holder first: MySQL assigns from left to right, and what follows sees
/// the new token.
const CLAIM: &str = "\
INSERT INTO leasehold_fence (resource, last_token, holder) VALUES (?, ?, ?)
ON DUPLICATE KEY UPDATE
    holder = IF(last_token < VALUES(last_token), VALUES(holder), holder),
    last_token = GREATEST(last_token, VALUES(last_token))";

/// With a lock, so that it tells of the row as it is, and not as it was when the transaction first read.
const STORED: &str = "SELECT last_token, holder FROM leasehold_fence WHERE resource = ? FOR UPDATE";

/// The lock makes it wait for the end of a transaction that is still open.
const RECENT: &str = "SELECT writes, recent FROM leasehold_fence WHERE resource = ? FOR UPDATE";

/// A database whose writes are fenced, with connections of its own. Cheap to clone.
///
/// It brings its own connections because two things must be right on them: an `UPDATE` must count the rows that it
/// found, not those that it changed, and a statement that was sent must be heard to its end.
#[derive(Clone)]
pub struct MysqlFence {
    connections: Arc<Connections>,
}

impl MysqlFence {
    /// The database at `address`, such as `mysql://jobs:password@127.0.0.1/jobs`, without TLS.
    ///
    /// # Errors
    /// [`FenceError::Database`] when the address cannot be understood.
    pub fn new(address: &str) -> Result<Self, FenceError> {
        let options = Opts::from_url(address).map_err(|error| FenceError::Database {
            action: "its address",
            cause: error.into(),
            advice: "write it as mysql://user:password@host:port/database",
        })?;
        Ok(Self::with_options(options))
    }

    /// As [`new`](MysqlFence::new), with the client's own options.
    #[must_use]
    pub fn with_options(options: impl Into<Opts>) -> Self {
        Self { connections: Arc::new(Connections::new(options.into())) }
    }

    /// Creates the table of fence rows if it is not there, and adds the columns that an older one lacks; see [`SCHEMA`]
    /// and [`UPGRADE`].
    ///
    /// # Errors
    /// [`FenceError::Database`] when the database cannot be reached or the user may not create tables.
    pub async fn create_table(&self) -> Result<(), FenceError> {
        const ACTION: &str = "creating the table of fence rows";
        let lent = Lent::open(&self.connections, ACTION, Duration::from_secs(60)).await?;
        lent.desk().ask(SCHEMA, ()).await.map_err(|error| failure(ACTION, error))?;
        // Asked first, since an `ALTER TABLE` waits for all transactions.
        let found = lent.desk().ask(IS_UP_TO_DATE, ()).await.map_err(|error| failure(ACTION, error))?;
        if found.rows.is_empty() {
            match lent.desk().ask(UPGRADE, ()).await {
                // Another process was faster.
                Err(Error::Server(said)) if said.code == DUPLICATE_COLUMN => {}
                added => _ = added.map_err(|error| failure(ACTION, error))?,
            }
        }
        lent.give_back();
        Ok(())
    }

    /// Looks whether the table of fence rows is there and as it must be, and the tables of `rows` with it. Asks for
    /// the real schema, so it finds what a migration elsewhere has done. For the start of a program, before it
    /// takes leases. Changes nothing; cancel-safe.
    ///
    /// # Errors
    /// [`SchemaError`] with the first thing that is wrong, and the statements that make it right.
    pub async fn verify(&self, rows: &[RowFence]) -> Result<(), SchemaError> {
        let lent = Lent::open(&self.connections, "a look at its tables", Duration::from_secs(60)).await;
        let lent = lent.map_err(|error| SchemaError::Database { cause: error.into() })?;
        schema::verify(lent.desk(), rows).await?;
        lent.give_back();
        Ok(())
    }

    /// Raises the fence of `resource` to the lease's token. Do it before the first read of what you will write:
    /// from then on no earlier holder can change it.
    ///
    /// May be repeated under the same lease. Cancel-safe: it either happened or not. Ends also when the database is
    /// silent: after the lease's TTL, and 5 seconds at least.
    ///
    /// # Errors
    /// [`FenceError::Stale`] when the storage has seen a newer token, or this one from another lease,
    /// [`FenceError::Lost`] when this lease has ended, and the database's own.
    pub async fn claim(
        &self,
        tenure: &Tenure,
        resource: impl TryInto<Resource, Error: Into<Cause>>,
    ) -> Result<Claimed, FenceError> {
        let resource = Resource::of_claim(resource)?;
        work::claim(tenure, self.raise(tenure, &resource)).await?;
        Ok(Claimed { fence: self.clone(), tenure: tenure.clone(), resource })
    }

    /// Tells what became of a transaction whose commit had no answer, once it has ended: until then its fence row is
    /// locked, and this waits, for at most the TTL of its lease and 5 seconds. By then the server has ended it, if it
    /// has lost its client. Needs no lease. Cancel-safe.
    ///
    /// # Errors
    /// [`FenceError::Database`] and [`FenceError::Conflict`] when the database gave no answer; ask again.
    pub async fn find_out(&self, receipt: &Receipt) -> Result<Ending, FenceError> {
        work::find_out(receipt, async {
            let lent = Lent::open(&self.connections, FINDING_OUT, receipt.patience()).await?;
            let answer = lent.desk().ask(RECENT, (receipt.resource().as_str(),)).await;
            let answer = answer.map_err(|error| failure(FINDING_OUT, error))?;
            lent.give_back();
            let row = answer.rows.first();
            let count = row.and_then(|row| row.get::<Option<i64>, _>(0).flatten());
            Ok(count.zip(row.and_then(|row| row.get::<Option<Vec<u8>>, _>(1).flatten())))
        })
        .await
    }

    async fn raise(&self, tenure: &Tenure, resource: &Resource) -> Result<(), FenceError> {
        const ACTION: &str = "a claim";
        let lent = Lent::open(&self.connections, ACTION, tenure.claim().ttl).await?;
        let (name, token, owner) = (resource.as_str(), tenure.token().as_i64(), tenure.owner());
        let raised = lent.desk().ask(CLAIM, (name, token, owner.as_bytes().as_slice())).await;
        raised.map_err(|error| failure(ACTION, error))?;
        let mark = stored(&lent, resource).await.map_err(|error| failure(ACTION, error))?;
        lent.give_back();
        mark::claimed(mark.as_ref(), tenure, resource)
    }
}

impl std::fmt::Debug for MysqlFence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address knows the password.
        f.debug_struct("MysqlFence").finish_non_exhaustive()
    }
}

/// What the fence row of a resource says.
async fn stored(lent: &Lent, resource: &Resource) -> Result<Option<Mark>, Error> {
    let answer = lent.desk().ask(STORED, (resource.as_str(),)).await?;
    Ok(answer.rows.first().map(|row| Mark {
        token: row.get::<Option<i64>, _>(0).flatten().unwrap_or_default(),
        holder: row.get::<Option<Vec<u8>>, _>(1).flatten(),
    }))
}

/// A resource that a lease has claimed.
#[derive(Debug)]
pub struct Claimed {
    fence: MysqlFence,
    tenure: Tenure,
    resource: Resource,
}

impl Claimed {
    /// Runs `work` in a transaction that is committed only if this lease's token is still the newest that the
    /// resource has seen, `work` succeeds and the lease was not lost meanwhile. Else it is rolled back, and the
    /// rollback has been awaited when this returns.
    ///
    /// Other claims and transactions of the resource wait until this one has ended. A process that is paused in
    /// the middle of it loses its connection after the lease's TTL (rounded up to a second), so that they do not
    /// wait for ever.
    ///
    /// Cancel-safe: when this is dropped before the commit, the transaction is rolled back in the background, and
    /// the lease is not given back before that; when it is dropped during the commit, that is completed.
    ///
    /// Everything around `work` has a limit: the lease's TTL, and 5 seconds at least. The statements in `work` have
    /// none but yours; give them one where a connection may fall silent, since the lease is renewed as long as they
    /// wait.
    ///
    /// # Errors
    /// [`FenceError`] as it says; [`FenceError::Work`] with `work`'s own error.
    pub async fn transaction<T, E>(
        &self,
        work: impl AsyncFnOnce(&mut FencedTransaction) -> Result<T, E>,
    ) -> Result<T, FenceError<E>> {
        let (fence, tenure, resource) = (self.fence.clone(), self.tenure.clone(), self.resource.clone());
        let open = async move {
            let ttl = tenure.claim().ttl;
            let receipt = Receipt::fresh(&resource, ttl)?;
            let lent = Lent::for_transaction(&fence.connections, "beginning a transaction", ttl).await?;
            Ok(MysqlSession::new(lent, tenure, receipt))
        };
        work::transaction(&self.tenure, open, async |session: &mut MysqlSession| {
            work(session.transaction()).await
        })
        .await
    }

    /// The resource's name.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }
}
