//! One Redis or Valkey server: the connection to it, and scripts that are run by their hash. Knows no script.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, RedisError, Script};

use super::failure::{breaks_connection, failure};
use crate::store::StoreError;
use crate::store::link::Link;

pub(in crate::store) struct Server {
    client: Client,
    link: Link<MultiplexedConnection>,
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
        Self { client, link: Link::new() }
    }

    pub(in crate::store) fn client(&self) -> &Client {
        &self.client
    }

    /// Runs a script by its hash, and by its text when the server does not know the hash (any more).
    pub(in crate::store) async fn run<T: FromRedisValue>(
        &self,
        action: &'static str,
        script: &Prepared,
        keys: &[&str],
        arguments: &[&str],
    ) -> Result<T, StoreError> {
        let mut lent = self.link.get(|| open(&self.client)).await.map_err(|error| failure(action, error))?;
        let short = request("EVALSHA", script.hash.get_hash(), keys, arguments);
        let mut answer = short.query_async(&mut lent.connection).await;
        if let Err(error) = &answer
            && error.kind() == redis::ServerErrorKind::NoScript.into()
        {
            answer = request("EVAL", script.text, keys, arguments).query_async(&mut lent.connection).await;
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
