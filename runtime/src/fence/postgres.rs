//! Fenced transactions in PostgreSQL: the fence row's statements, the claim, and what a transaction may do.

mod connections;
mod failure;
mod session;

use std::sync::Arc;

use tokio::time::timeout;

pub use connections::{Connections, IdleConnections};
pub use session::FencedTransaction;

use self::failure::failure;
use self::session::PostgresSession;
use super::{FenceError, Resource, work};
use crate::store::postgres::one_at_a_time;
use crate::tenure::Tenure;

/// The table of fence rows. Put it into a migration of the database that you protect.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_fence (
    resource TEXT NOT NULL PRIMARY KEY,
    last_token BIGINT NOT NULL DEFAULT 0,
    writes BIGINT NOT NULL DEFAULT 0
);
";

const CLAIM: &str = "\
INSERT INTO leasehold_fence AS fence (resource, last_token) VALUES ($1, $2)
ON CONFLICT (resource) DO UPDATE SET last_token = EXCLUDED.last_token
WHERE fence.last_token < EXCLUDED.last_token";

const STORED: &str = "SELECT last_token FROM leasehold_fence WHERE resource = $1 FOR UPDATE";

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

    /// Creates the table of fence rows if it is not there; see [`SCHEMA`].
    ///
    /// # Errors
    /// [`FenceError::Database`] when the database cannot be reached or the user may not create tables.
    pub async fn create_table(&self) -> Result<(), FenceError> {
        const ACTION: &str = "creating the table of fence rows";
        let lent = connections::open(&self.connections, ACTION).await?;
        lent.client().batch_execute(&one_at_a_time(SCHEMA)).await.map_err(|error| failure(ACTION, error))?;
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
        resource: impl TryInto<Resource, Error: Into<crate::store::Cause>>,
    ) -> Result<Claimed<C>, FenceError> {
        const ACTION: &str = "a claim";
        let resource = Resource::of_claim(resource)?;
        let limit = work::limit(tenure);
        let raised = timeout(limit, tenure.run(self.raise(tenure, &resource))).await;
        raised.map_err(|_| work::unanswered(ACTION, limit))???;
        Ok(Claimed { fence: self.clone(), tenure: tenure.clone(), resource })
    }

    async fn raise(&self, tenure: &Tenure, resource: &Resource) -> Result<(), FenceError> {
        const ACTION: &str = "a claim";
        let lent = connections::open(&self.connections, ACTION).await?;
        let token = tenure.token();
        let raised = lent
            .client()
            .execute(CLAIM, &[&resource.as_str(), &token.as_i64()])
            .await
            .map_err(|error| failure(ACTION, error))?;
        if raised != 1 {
            let row = lent.client().query_opt(STORED, &[&resource.as_str()]).await;
            let stored = row
                .and_then(|row| row.map(|row| row.try_get::<_, i64>(0)).transpose())
                .map_err(|error| failure(ACTION, error))?;
            // Equal: this lease has claimed it before, perhaps without hearing the answer.
            if stored != Some(token.as_i64()) {
                return Err(super::verdict(resource.to_string(), token, stored));
            }
        }
        lent.give_back();
        Ok(())
    }
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
            let lent = connections::open(&fence.connections, "beginning a transaction").await?;
            Ok(PostgresSession::new(lent, tenure, resource))
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
