//! Where fenced transactions get their connections from: a pool of the user's, or connections of our own.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_postgres::{Client, Config, NoTls};
use tracing::debug;

use crate::fence::FenceError;
use crate::store::Cause;

/// A pool of connections. Implement it for the pool that you have.
pub trait Connections: Send + Sync + 'static {
    /// What the pool lends. Dropping it gives it back to the pool.
    type Connection: Send + Sync + 'static;

    /// Lends a connection, without a transaction on it.
    fn take(&self) -> impl Future<Output = Result<Self::Connection, Cause>> + Send;

    /// The client of a connection.
    fn client(connection: &Self::Connection) -> &Client;

    /// A connection whose transaction has no known end. It must be closed, and never lent again.
    fn discard(&self, connection: Self::Connection);

    /// A connection whose transaction has ended. By default it is dropped, as pools want it.
    fn give_back(&self, connection: Self::Connection) {
        drop(connection);
    }
}

/// Connections that are kept for the next transaction; as many as were ever used at once.
pub struct IdleConnections {
    config: Config,
    idle: Mutex<Vec<Client>>,
}

impl IdleConnections {
    /// Connections by this configuration, without TLS.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, idle: Mutex::default() }
    }
}

impl Connections for IdleConnections {
    type Connection = Client;

    async fn take(&self) -> Result<Client, Cause> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(client) if client.is_closed() => {}
                Some(client) => return Ok(client),
                None => break,
            }
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!(%error, "a connection for fenced transactions ended");
            }
        });
        Ok(client)
    }

    fn client(connection: &Client) -> &Client {
        connection
    }

    fn discard(&self, connection: Client) {
        // Its task closes the connection once there is no client.
        drop(connection);
    }

    fn give_back(&self, connection: Client) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

/// A connection on loan: discarded, unless it is given back.
pub(super) struct Lent<C: Connections> {
    pool: Arc<C>,
    connection: Option<C::Connection>,
}

pub(super) async fn open<C: Connections>(pool: &Arc<C>, action: &'static str) -> Result<Lent<C>, FenceError> {
    let connection = pool.take().await.map_err(|cause| FenceError::Database {
        action,
        cause,
        advice: "check that the database runs and that the address is right",
    })?;
    Ok(Lent { pool: Arc::clone(pool), connection: Some(connection) })
}

impl<C: Connections> Lent<C> {
    #[allow(clippy::expect_used, reason = "it is only taken by value or in Drop")]
    pub(super) fn client(&self) -> &Client {
        C::client(self.connection.as_ref().expect("it was not given back"))
    }

    pub(super) fn give_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.give_back(connection);
        }
    }
}

impl<C: Connections> Drop for Lent<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.discard(connection);
        }
    }
}
