//! Leases in a table of PostgreSQL. Expiry is judged by the server's clock, in the statement that acts on it.

mod failure;
mod hints;

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row};
use tracing::debug;

use self::failure::{breaks_connection, failure, unintelligible};
use self::hints::Hints;
use super::link::{Lent, Link};
use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
    Watch,
};
use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "postgres";

/// The table of leases. A row is never deleted: it remembers the last token of its key.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_lease (
    key TEXT NOT NULL PRIMARY KEY,
    owner BYTEA NOT NULL,
    token BIGINT NOT NULL,
    ends_at TIMESTAMPTZ NOT NULL
);
";

/// `clock_timestamp()`, not `now()`: the statement may wait for another one's row lock, and `now()` would be from
/// before the wait. The second column answers a loser how long it may wait.
const ACQUIRE: &str = "\
WITH taken AS (
    INSERT INTO leasehold_lease AS held (key, owner, token, ends_at)
    VALUES ($1, $2, 1, clock_timestamp() + $3::bigint * interval '1 millisecond')
    ON CONFLICT (key) DO UPDATE
    SET owner = EXCLUDED.owner, token = held.token + 1,
        ends_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
    WHERE held.ends_at <= clock_timestamp()
    RETURNING token
)
SELECT (SELECT token FROM taken),
       (SELECT ceil(extract(epoch FROM ends_at - clock_timestamp()) * 1000)::bigint
        FROM leasehold_lease WHERE key = $1 AND isfinite(ends_at))";

const RENEW: &str = "\
UPDATE leasehold_lease SET ends_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
WHERE key = $1 AND owner = $2 AND ends_at > clock_timestamp()";

const RELEASE: &str = "\
WITH released AS (
    UPDATE leasehold_lease SET ends_at = '-infinity'
    WHERE key = $1 AND owner = $2 AND ends_at > clock_timestamp()
    RETURNING key
)
SELECT pg_notify('leasehold', key) FROM released";

const HOLDER: &str = "SELECT owner FROM leasehold_lease WHERE key = $1 AND ends_at > clock_timestamp()";

/// Leases in a table of PostgreSQL. Clones share one connection for requests, which no work can take away from
/// them, and once somebody waits, one for hints.
///
/// Each grant is on disk before it is answered (unless the server runs with `synchronous_commit = off`), so
/// tokens grow through crashes. A failover to an asynchronous replica can lose the last ones.
#[derive(Clone)]
pub struct PostgresStore(Arc<Shared>);

struct Shared {
    config: Config,
    link: Link<Arc<Client>>,
    hints: Hints,
}

impl PostgresStore {
    /// A store in the database at `address`, such as `host=127.0.0.1 user=jobs dbname=jobs` or
    /// `postgres://jobs@127.0.0.1/jobs`. Connects when it is first used. Without TLS, so for the same host or a
    /// network that you trust.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address cannot be understood.
    pub fn new(address: &str) -> Result<Self, StoreError> {
        let config = address.parse::<Config>().map_err(|error| StoreError::Refused {
            store: NAME,
            action: "its address",
            cause: error.into(),
            advice: "write it as postgres://user:password@host:port/database",
        })?;
        Ok(Self::with_config(config))
    }

    /// As [`new`](PostgresStore::new), with the client's own configuration.
    #[must_use]
    pub fn with_config(config: Config) -> Self {
        Self(Arc::new(Shared { config, link: Link::new(), hints: Hints::default() }))
    }

    /// Creates the table of leases if it is not there. With migrations of your own, put [`SCHEMA`] into one
    /// instead.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be reached or the user may not create tables.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        const ACTION: &str = "creating the table of leases";
        let lent = self.lent(ACTION).await?;
        lent.connection.batch_execute(&one_at_a_time(SCHEMA)).await.map_err(|error| failure(ACTION, error))
    }

    /// The connection for leases; a new one when the server has closed the last.
    async fn lent(&self, action: &'static str) -> Result<Lent<Arc<Client>>, StoreError> {
        let shared = &self.0;
        let opened = shared.link.get(|| open(&shared.config)).await;
        let lent = opened.map_err(|error| failure(action, error))?;
        if !lent.connection.is_closed() {
            return Ok(lent);
        }
        shared.link.broken(&lent);
        shared.link.get(|| open(&shared.config)).await.map_err(|error| failure(action, error))
    }

    /// Runs one statement of its own transaction on the connection for leases.
    async fn ask(
        &self,
        action: &'static str,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Answer, StoreError> {
        let shared = &self.0;
        let lent = self.lent(action).await?;
        let answer = ask(&lent.connection, statement, values).await;
        answer.map_err(|error| {
            if breaks_connection(&error) || lent.connection.is_closed() {
                shared.link.broken(&lent);
            }
            failure(action, error)
        })
    }
}

/// What a statement gave: its rows, and how many rows it changed or gave.
struct Answer {
    first: Option<Row>,
    rows: u64,
}

async fn ask(client: &Client, statement: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Answer, Error> {
    use futures_util::TryStreamExt;

    use tokio_postgres::types::Type;
    // With the types said, the statement needs no preparing: one round trip.
    let types = [Type::TEXT, Type::BYTEA, Type::INT8];
    let values = values.iter().copied().zip(types).collect::<Vec<_>>();
    let stream = client.query_typed_raw(statement, values).await?;
    let mut stream = std::pin::pin!(stream);
    let mut first = None;
    while let Some(row) = stream.try_next().await? {
        first.get_or_insert(row);
    }
    Ok(Answer { first, rows: stream.rows_affected().unwrap_or(0) })
}

impl LeaseStore for PostgresStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new(NAME).tokens(TokenDurability::Durable).with_hints()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        const ACTION: &str = "an acquire";
        let (owner, ttl) = (claim.owner.as_bytes().as_slice(), claim.ttl_milliseconds());
        let answer = self.ask(ACTION, ACQUIRE, &[&claim.key.as_str(), &owner, &ttl]).await?;
        let row = answer.first.ok_or_else(|| unintelligible(ACTION, "no row"))?;
        let token: Option<i64> = row.try_get(0).map_err(|error| unintelligible(ACTION, error))?;
        if let Some(number) = token {
            let token = FencingToken::try_from(number).map_err(|error| unintelligible(ACTION, error))?;
            return Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }));
        }
        let left: Option<i64> = row.try_get(1).map_err(|error| unintelligible(ACTION, error))?;
        let ends_within = left.map(|left| Duration::from_millis(u64::try_from(left).unwrap_or(0)));
        Ok(Acquisition::Held { ends_within })
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        let (owner, ttl) = (claim.owner.as_bytes().as_slice(), claim.ttl_milliseconds());
        let answer = self.ask("a renewal", RENEW, &[&claim.key.as_str(), &owner, &ttl]).await?;
        Ok(if answer.rows == 1 { Renewal::Renewed { ttl: claim.ttl } } else { Renewal::NotMine })
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let owner = claim.owner.as_bytes().as_slice();
        let answer = self.ask("a release", RELEASE, &[&claim.key.as_str(), &owner]).await?;
        Ok(if answer.rows == 1 { Surrender::Released } else { Surrender::NotMine })
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        const ACTION: &str = "asking for the holder";
        let answer = self.ask(ACTION, HOLDER, &[&key.as_str()]).await?;
        let Some(row) = answer.first else { return Ok(None) };
        let owner: &[u8] = row.try_get(0).map_err(|error| unintelligible(ACTION, error))?;
        Ok(OwnerValue::from_slice(owner))
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        self.0.hints.listen(&self.0.config, key).await
    }

    fn reset(&self) {
        self.0.link.reset();
    }
}

/// `IF NOT EXISTS` fails when two sessions create the table in the same moment. One batch is one transaction, and
/// the lock ends with it.
pub(crate) fn one_at_a_time(schema: &str) -> String {
    format!("SELECT pg_advisory_xact_lock(7811883266); {schema}")
}

async fn open(config: &Config) -> Result<Arc<Client>, Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            debug!(%error, "the connection for leases ended");
        }
    });
    Ok(Arc::new(client))
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration knows the password.
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}
