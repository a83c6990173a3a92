//! Fenced transactions in MySQL and MariaDB (InnoDB): the fence row's statements, the claim, and what a transaction
//! may do.

mod connections;
mod failure;
mod session;

use std::sync::Arc;
use std::time::Duration;

use mysql_async::Opts;

pub use session::FencedTransaction;

use self::connections::{Connections, Lent};
use self::failure::failure;
use self::session::MysqlSession;
use super::{FenceError, Resource, verdict, work};
use crate::store::Cause;
use crate::tenure::Tenure;

/// The table of fence rows. Put it into a migration of the database that you protect. The resource is bytes, since
/// texts that differ in case or in spaces at the end would count as equal.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_fence (
    resource VARBINARY(512) NOT NULL PRIMARY KEY,
    last_token BIGINT NOT NULL DEFAULT 0,
    writes BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;
";

/// Can only raise it, whatever was there.
const CLAIM: &str = "\
INSERT INTO leasehold_fence (resource, last_token) VALUES (?, ?)
ON DUPLICATE KEY UPDATE last_token = GREATEST(last_token, VALUES(last_token))";

/// With a lock, so that it tells of the row as it is, and not as it was when the transaction first read.
const STORED: &str = "SELECT last_token FROM leasehold_fence WHERE resource = ? FOR UPDATE";

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

    /// Creates the table of fence rows if it is not there; see [`SCHEMA`].
    ///
    /// # Errors
    /// [`FenceError::Database`] when the database cannot be reached or the user may not create tables.
    pub async fn create_table(&self) -> Result<(), FenceError> {
        const ACTION: &str = "creating the table of fence rows";
        let lent = Lent::open(&self.connections, ACTION, Duration::from_secs(60)).await?;
        lent.desk().ask(SCHEMA, ()).await.map_err(|error| failure(ACTION, error))?;
        lent.give_back();
        Ok(())
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
        resource: impl TryInto<Resource, Error: Into<Cause>>,
    ) -> Result<Claimed, FenceError> {
        let resource = Resource::of_claim(resource)?;
        tenure.run(self.raise(tenure, &resource)).await??;
        Ok(Claimed { fence: self.clone(), tenure: tenure.clone(), resource })
    }

    async fn raise(&self, tenure: &Tenure, resource: &Resource) -> Result<(), FenceError> {
        const ACTION: &str = "a claim";
        let lent = Lent::open(&self.connections, ACTION, tenure.claim().ttl).await?;
        let token = tenure.token();
        let (name, number) = (resource.as_str(), token.as_i64());
        lent.desk().ask(CLAIM, (name, number)).await.map_err(|error| failure(ACTION, error))?;
        let stored = lent.stored(STORED, name).await.map_err(|error| failure(ACTION, error))?.flatten();
        lent.give_back();
        if stored == Some(number) { Ok(()) } else { Err(verdict(resource.to_string(), token, stored)) }
    }
}

impl std::fmt::Debug for MysqlFence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address knows the password.
        f.debug_struct("MysqlFence").finish_non_exhaustive()
    }
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
    /// # Errors
    /// [`FenceError`] as it says; [`FenceError::Work`] with `work`'s own error.
    pub async fn transaction<T, E>(
        &self,
        work: impl AsyncFnOnce(&mut FencedTransaction) -> Result<T, E>,
    ) -> Result<T, FenceError<E>> {
        let (fence, tenure, resource) = (self.fence.clone(), self.tenure.clone(), self.resource.clone());
        let open = async move {
            let ttl = tenure.claim().ttl;
            let lent = Lent::open(&fence.connections, "beginning a transaction", ttl).await?;
            Ok(MysqlSession::new(lent, tenure, resource))
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
