//! Fenced transactions in PostgreSQL: the fence row's statements, the claim, and what a transaction may do.

mod connections;
mod failure;
mod schema;
mod session;

use std::sync::Arc;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

pub use connections::{Connections, IdleConnections};
pub use session::FencedTransaction;

use self::failure::failure;
use self::session::PostgresSession;
use super::mark::{self, Mark};
use super::work::{self, FINDING_OUT};
use super::{Ending, FenceError, Receipt, Resource, RowFence, SchemaError};
use crate::store::postgres::one_at_a_time;
use crate::tenure::Tenure;

/// The table of fence rows. Put it into a migration of the database that you protect.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_fence (
    resource TEXT NOT NULL PRIMARY KEY,
    last_token BIGINT NOT NULL DEFAULT 0,
    holder BYTEA NOT NULL DEFAULT '',
    writes BIGINT NOT NULL DEFAULT 0,
    recent BYTEA NOT NULL DEFAULT ''
);
";

/// For a table that was made before there were the columns `holder` and `recent`: put it into a migration, before any
/// process with this version runs. Rows that are there count as held by nobody, so the next claim needs a larger
/// token.
pub const UPGRADE: &str = "\
ALTER TABLE leasehold_fence ADD COLUMN IF NOT EXISTS holder BYTEA NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS recent BYTEA NOT NULL DEFAULT '';
";

const IS_UP_TO_DATE: &str = "\
SELECT 1 FROM pg_attribute
WHERE attrelid = 'leasehold_fence'::regclass AND attname = 'recent' AND NOT attisdropped";

const CLAIM: &str = "\
INSERT INTO leasehold_fence AS fence (resource, last_token, holder) VALUES ($1, $2, $3)
ON CONFLICT (resource) DO UPDATE SET last_token = EXCLUDED.last_token, holder = EXCLUDED.holder
WHERE fence.last_token < EXCLUDED.last_token";

/// With a lock, so that it tells of the row as it is once all who change it have ended.
const STORED: &str = "SELECT last_token, holder FROM leasehold_fence WHERE resource = $1 FOR UPDATE";

/// The lock makes it wait for the end of a transaction that is still open.
const RECENT: &str = "SELECT writes, recent FROM leasehold_fence WHERE resource = $1 FOR UPDATE";

/// A database whose writes are fenced. Cheap to clone.
pub struct PostgresFence<C = IdleConnections> {
    connections: Arc<C>,
}

impl<C> Clone for PostgresFence<C> {
    fn clone(&self) -> Self {
        Self { connections: Arc::clone(&self.connections) }
    }
}

impl PostgresFence {
    /// The database at `address`, with connections of its own, without TLS.
    ///
    /// # Errors
    /// [`FenceError::Database`] when the address cannot be understood.
    pub fn new(address: &str) -> Result<Self, FenceError> {
        let config = address.parse().map_err(|error: tokio_postgres::Error| FenceError::Database {
            action: "its address",
            cause: error.into(),
            advice: "write it as postgres://user:password@host:port/database",
        })?;
        Ok(Self::over(IdleConnections::new(config)))
    }
}

impl<C: Connections> PostgresFence<C> {
    /// A database by way of a pool.
    #[must_use]
    pub fn over(connections: C) -> Self {
        Self { connections: Arc::new(connections) }
    }

    /// Creates the table of fence rows if it is not there, and adds the columns that an older one lacks; see [`SCHEMA`]
    /// and [`UPGRADE`].
    ///
    /// # Errors
    /// [`FenceError::Database`] when the database cannot be reached or the user may not create tables.
    pub async fn create_table(&self) -> Result<(), FenceError> {
        const ACTION: &str = "creating the table of fence rows";
        let lent = connections::open(&self.connections, ACTION).await?;
        let client = lent.client();
        client.batch_execute(&one_at_a_time(SCHEMA)).await.map_err(|error| failure(ACTION, error))?;
        // Asked first, since an `ALTER TABLE` waits for all transactions, also when it has nothing to do.
        let up_to_date =
            client.query_opt(IS_UP_TO_DATE, &[]).await.map_err(|error| failure(ACTION, error))?;
        if up_to_date.is_none() {
            client.batch_execute(&one_at_a_time(UPGRADE)).await.map_err(|error| failure(ACTION, error))?;
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
        let lent = connections::open(&self.connections, "a look at its tables").await;
        let lent = lent.map_err(|error| SchemaError::Database { cause: error.into() })?;
        schema::verify(lent.client(), rows).await?;
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
        resource: impl TryInto<Resource, Error: Into<crate::store::Cause>>,
    ) -> Result<Claimed<C>, FenceError> {
        let resource = Resource::of_claim(resource)?;
        work::claim(tenure, self.raise(tenure, &resource)).await?;
        Ok(Claimed { fence: self.clone(), tenure: tenure.clone(), resource })
    }

    /// Tells what became of a transaction whose commit had no answer, once it has ended: until then its fence row is
    /// locked, and this waits, for at most the TTL of its lease and 5 seconds. By then the server has ended it, if it
    /// has lost its client. Needs no lease. Cancel-safe.
    ///
    /// # Errors
    /// [`FenceError::Database`] when the database gave no answer; ask again.
    pub async fn find_out(&self, receipt: &Receipt) -> Result<Ending, FenceError> {
        work::find_out(receipt, async {
            let lent = connections::open(&self.connections, FINDING_OUT).await?;
            let row = recent(lent.client(), receipt.resource()).await;
            let row = row.map_err(|error| failure(FINDING_OUT, error))?;
            lent.give_back();
            Ok(row)
        })
        .await
    }

    async fn raise(&self, tenure: &Tenure, resource: &Resource) -> Result<(), FenceError> {
        const ACTION: &str = "a claim";
        let lent = connections::open(&self.connections, ACTION).await?;
        let (token, owner) = (tenure.token().as_i64(), tenure.owner());
        let raised = lent
            .client()
            .execute_typed(
                CLAIM,
                &[
                    (&resource.as_str(), Type::TEXT),
                    (&token, Type::INT8),
                    (&owner.as_bytes().as_slice(), Type::BYTEA),
                ],
            )
            .await
            .map_err(|error| failure(ACTION, error))?;
        if raised != 1 {
            // This lease may have claimed it before, perhaps without hearing the answer.
            let mark = stored(lent.client(), resource).await.map_err(|error| failure(ACTION, error))?;
            mark::claimed(mark.as_ref(), tenure, resource)?;
        }
        lent.give_back();
        Ok(())
    }
}

/// What the fence row of a resource says.
async fn stored(client: &Client, resource: &Resource) -> Result<Option<Mark>, Error> {
    let row = client.query_typed_opt(STORED, &[(&resource.as_str(), Type::TEXT)]).await?;
    row.map(|row| Ok(Mark { token: row.try_get(0)?, holder: row.try_get(1)? })).transpose()
}

/// The count of a resource's fence row and its last ids.
async fn recent(client: &Client, resource: &Resource) -> Result<Option<(i64, Vec<u8>)>, Error> {
    let row = client.query_typed_opt(RECENT, &[(&resource.as_str(), Type::TEXT)]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

/// A resource that a lease has claimed.
pub struct Claimed<C = IdleConnections> {
    fence: PostgresFence<C>,
    tenure: Tenure,
    resource: Resource,
}

impl<C: Connections> Claimed<C> {
    /// Runs `work` in a transaction that is committed only if this lease's token is still the newest that the
    /// resource has seen, `work` succeeds and the lease was not lost meanwhile. Else it is rolled back, and the
    /// rollback has been awaited when this returns.
    ///
    /// Other claims and transactions of the resource wait until this one has ended. A process that is paused in
    /// the middle of it loses its connection after the lease's TTL, so that they do not wait for ever.
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
        work: impl AsyncFnOnce(&mut FencedTransaction<C>) -> Result<T, E>,
    ) -> Result<T, FenceError<E>> {
        let (fence, tenure, resource) = (self.fence.clone(), self.tenure.clone(), self.resource.clone());
        let open = async move {
            let receipt = Receipt::fresh(&resource, tenure.claim().ttl)?;
            let lent = connections::open(&fence.connections, "beginning a transaction").await?;
            Ok(PostgresSession::new(lent, tenure, receipt))
        };
        work::transaction(&self.tenure, open, async |session: &mut PostgresSession<C>| {
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
