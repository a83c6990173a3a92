//! One Redis or Valkey server, or a cluster of them: the connection, and scripts that are run by their hash. Knows no
//! script.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, Script};
#[cfg(feature = "redis-cluster")]
use redis::{cluster::ClusterClient, cluster_async::ClusterConnection};

use super::failure::{breaks_connection, failure};
use crate::store::link::Link;
use crate::store::{BoxFuture, StoreError};
use tokio::sync::Mutex;

/// How many connections are opened side by side at most.
const MOST_OPENINGS: usize = 4;

pub(in crate::store) struct Server {
    /// Any of these can be listened to. With one server it is that one; of a cluster, those that were named.
    clients: Vec<Client>,
    #[cfg(feature = "redis-cluster")]
    cluster: Option<ClusterClient>,
    link: Link<Connection>,
    /// Connections that nobody had the time to wait for. They are not given up: where a request has less time than it
    /// takes to connect, none would ever come about. But others are begun beside them, since one may be dead.
    openings: Mutex<VecDeque<BoxFuture<'static, Result<Connection, RedisError>>>>,
}

#[derive(Clone)]
enum Connection {
    One(MultiplexedConnection),
    #[cfg(feature = "redis-cluster")]
    Cluster(ClusterConnection),
}

impl Connection {
    async fn ask<T: FromRedisValue>(&mut self, request: &Cmd) -> Result<T, RedisError> {
        match self {
            Self::One(connection) => request.query_async(connection).await,
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(connection) => request.query_async(connection).await,
        }
    }
}

/// A script with its hash.
pub(in crate::store) struct Prepared {
    text: &'static str,
    hash: Script,
}

impl Prepared {
    pub(in crate::store) fn new(text: &'static str) -> Self {
        Self { text, hash: Script::new(text) }
    }
}

impl Server {
    /// Connects when it is first used.
    pub(in crate::store) fn new(client: Client) -> Self {
        Self {
            clients: vec![client],
            #[cfg(feature = "redis-cluster")]
            cluster: None,
            link: Link::new(),
            openings: Mutex::default(),
        }
    }

    /// As [`new`](Server::new), for a cluster to which these clients lead.
    #[cfg(feature = "redis-cluster")]
    pub(in crate::store) fn of_cluster(clients: Vec<Client>) -> Result<Self, RedisError> {
        let known = clients.iter().map(|client| client.get_connection_info().clone());
        // By itself the client waits for more than a second before it asks a cluster again that is busy with a
        // failover; that is more than most attempts have.
        let cluster = ClusterClient::builder(known)
            .min_retry_wait(20)
            .max_retry_wait(400)
            .overall_response_timeout(None)
            .build()?;
        Ok(Self { clients, cluster: Some(cluster), link: Link::new(), openings: Mutex::default() })
    }

    pub(in crate::store) fn clients(&self) -> &[Client] {
        &self.clients
    }

    /// The first connection that comes about. Cancel-safe: the next call goes on with what was begun.
    async fn open(&self) -> Result<Connection, RedisError> {
        let mut openings = self.openings.lock().await;
        openings.push_back(self.begin());
        if openings.len() > MOST_OPENINGS {
            openings.pop_front();
        }
        let opened = poll_fn(|context| {
            let mut at = 0;
            while let Some(opening) = openings.get_mut(at) {
                match opening.as_mut().poll(context) {
                    Poll::Pending => at += 1,
                    Poll::Ready(Ok(connection)) => return Poll::Ready(Ok(connection)),
                    Poll::Ready(Err(error)) => {
                        openings.remove(at);
                        // The youngest one knows best how it is now.
                        if at == openings.len() {
                            return Poll::Ready(Err(error));
                        }
                    }
                }
            }
            Poll::Pending
        });
        let opened = opened.await;
        if opened.is_ok() {
            openings.clear();
        }
        opened
    }

    fn begin(&self) -> BoxFuture<'static, Result<Connection, RedisError>> {
        #[cfg(feature = "redis-cluster")]
        if let Some(cluster) = self.cluster.clone() {
            // Without a limit for an answer: after it, the client would send the request again.
            let config = redis::cluster::ClusterConfig::new();
            return Box::pin(async move {
                cluster.get_async_connection_with_config(config).await.map(Connection::Cluster)
            });
        }
        let client = self.clients.first().cloned();
        Box::pin(async move {
            match client {
                Some(client) => open(&client).await.map(Connection::One),
                None => Err((redis::ErrorKind::InvalidClientConfig, "there is no server to ask").into()),
            }
        })
    }

    /// Runs a script by its hash, and by its text when the server does not know the hash (any more).
    pub(in crate::store) async fn run<T: FromRedisValue>(
        &self,
        action: &'static str,
        script: &Prepared,
        keys: &[&str],
        arguments: &[&str],
    ) -> Result<T, StoreError> {
        let mut lent = self.link.get(|| self.open()).await.map_err(|error| failure(action, error))?;
        let short = request("EVALSHA", script.hash.get_hash(), keys, arguments);
        let mut answer = lent.connection.ask(&short).await;
        if let Err(error) = &answer
            && error.kind() == redis::ServerErrorKind::NoScript.into()
        {
            answer = lent.connection.ask(&request("EVAL", script.text, keys, arguments)).await;
        }
        answer.map_err(|error| {
            if breaks_connection(&error) {
                self.link.broken(&lent);
            }
            failure(action, error)
        })
    }

    /// The connection is not trusted any more.
    pub(in crate::store) fn reset(&self) {
        self.link.reset();
    }
}

async fn open(client: &Client) -> Result<MultiplexedConnection, RedisError> {
    // The core limits each request, with the reconnecting in it; a second limit would only confuse.
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
    client.get_multiplexed_async_connection_with_config(&config).await
}

fn request(command: &str, script: &str, keys: &[&str], arguments: &[&str]) -> redis::Cmd {
    let mut request = redis::cmd(command);
    request.arg(script).arg(keys.len()).arg(keys).arg(arguments);
    request
}
