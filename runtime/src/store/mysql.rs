//! Leases in a table of MySQL or MariaDB. Expiry is judged by the server's clock, in the statement that acts on it.

mod failure;

use std::sync::Arc;
use std::time::Duration;

use mysql_async::{Opts, Params};

use self::failure::{breaks_connection, failure, is_duplicate, unintelligible};
use super::link::{Lent, Link};
use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
};
use crate::key::LeaseKey;
use crate::mysql_desk::{Answer, Desk};
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "mysql";

/// The table of leases. A row is never deleted: it remembers the last token of its key. `ends_at` is in UTC. The
/// key is bytes, since texts that differ in case or in spaces at the end would count as equal.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_lease (
    `key` VARBINARY(512) NOT NULL PRIMARY KEY,
    owner BINARY(16) NOT NULL,
    token BIGINT NOT NULL,
    ends_at DATETIME(6) NOT NULL
) ENGINE = InnoDB;
";

/// UTC, so that no change to or from summer time moves an expiry.
const SETUP: &[&str] = &["SET SESSION time_zone = '+00:00', autocommit = 1"];

/// `SYSDATE`, not `NOW`: the statement may wait for another one's row lock, and `NOW` would be from before the
/// wait. The token comes back in the answer to the very statement that sets it.
const TAKE: &str = "\
UPDATE leasehold_lease
SET owner = ?, token = LAST_INSERT_ID(token + 1), ends_at = SYSDATE(6) + INTERVAL ? MICROSECOND
WHERE `key` = ? AND ends_at <= SYSDATE(6)";

const TIME_LEFT: &str = "\
SELECT TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), ends_at) FROM leasehold_lease WHERE `key` = ?";

/// For a key that has no row yet. Of several at once one succeeds.
const TAKE_FIRST: &str = "\
INSERT INTO leasehold_lease (`key`, owner, token, ends_at)
VALUES (?, ?, 1, SYSDATE(6) + INTERVAL ? MICROSECOND)";

const RENEW: &str = "\
UPDATE leasehold_lease SET ends_at = SYSDATE(6) + INTERVAL ? MICROSECOND
WHERE `key` = ? AND owner = ? AND ends_at > SYSDATE(6)";

const RELEASE: &str = "\
UPDATE leasehold_lease SET ends_at = '1970-01-01'
WHERE `key` = ? AND owner = ? AND ends_at > SYSDATE(6)";

const HOLDER: &str = "SELECT owner FROM leasehold_lease WHERE `key` = ? AND ends_at > SYSDATE(6)";

/// Leases in a table of MySQL or MariaDB. Clones share one connection, which no work can take away from them.
///
/// Each grant is on disk before it is answered (with `innodb_flush_log_at_trx_commit = 1`, as servers have it
/// unless told otherwise), so tokens grow through crashes. A failover to an asynchronous replica can lose the last
/// ones. Binary logs must have the format `ROW` or `MIXED`. There are no hints: waiters ask again.
#[derive(Clone)]
pub struct MysqlStore(Arc<Shared>);

struct Shared {
    address: Opts,
    link: Link<Desk>,
}

impl MysqlStore {
    /// A store in the database at `address`, such as `mysql://jobs:password@127.0.0.1/jobs`. Connects when it is
    /// first used. Without TLS, so for the same host or a network that you trust.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address cannot be understood.
    pub fn new(address: &str) -> Result<Self, StoreError> {
        let address = Opts::from_url(address).map_err(|error| StoreError::Refused {
            store: NAME,
            action: "its address",
            cause: error.into(),
            advice: "write it as mysql://user:password@host:port/database",
        })?;
        Ok(Self::with_options(address))
    }

    /// As [`new`](MysqlStore::new), with the client's own options.
    #[must_use]
    pub fn with_options(options: impl Into<Opts>) -> Self {
        Self(Arc::new(Shared { address: options.into(), link: Link::new() }))
    }

    /// Creates the table of leases if it is not there. With migrations of your own, put [`SCHEMA`] into one
    /// instead.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be reached or the user may not create tables.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        self.ask("creating the table of leases", SCHEMA, ()).await.map(|_| ())
    }

    /// The connection; a new one when the last has ended.
    async fn lent(&self, action: &'static str) -> Result<Lent<Desk>, StoreError> {
        let Shared { address, link } = &*self.0;
        let open = || Desk::open(address, SETUP);
        let lent = link.get(open).await.map_err(|error| failure(action, error))?;
        if lent.connection.is_open().await {
            return Ok(lent);
        }
        link.broken(&lent);
        link.get(open).await.map_err(|error| failure(action, error))
    }

    async fn ask(
        &self,
        action: &'static str,
        statement: &'static str,
        values: impl Into<Params>,
    ) -> Result<Answer, StoreError> {
        self.try_ask(action, statement, values)
            .await
            .and_then(|answer| answer.map_err(|error| failure(action, error)))
    }

    /// As `ask`, with the server's error as it is.
    async fn try_ask(
        &self,
        action: &'static str,
        statement: &'static str,
        values: impl Into<Params>,
    ) -> Result<Result<Answer, mysql_async::Error>, StoreError> {
        let lent = self.lent(action).await?;
        let answer = lent.connection.ask(statement, values).await;
        if answer.as_ref().err().is_some_and(breaks_connection) {
            self.0.link.broken(&lent);
        }
        Ok(answer)
    }

    /// For a key that nobody has ever held, as far as this database knows.
    async fn take_first(&self, action: &'static str, claim: &Claim) -> Result<Acquisition, StoreError> {
        let values = (claim.key.as_str(), claim.owner.as_bytes().as_slice(), microseconds(claim));
        match self.try_ask(action, TAKE_FIRST, values).await? {
            Ok(_) => granted(action, claim, Some(1)),
            // Somebody else was first.
            Err(error) if is_duplicate(&error) => Ok(Acquisition::Held { ends_within: None }),
            Err(error) => Err(failure(action, error)),
        }
    }
}

impl LeaseStore for MysqlStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new(NAME).tokens(TokenDurability::Durable)
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        const ACTION: &str = "an acquire";
        let (key, owner) = (claim.key.as_str(), claim.owner.as_bytes().as_slice());
        let taken = self.ask(ACTION, TAKE, (owner, microseconds(claim), key)).await?;
        if taken.found == 1 {
            return granted(ACTION, claim, taken.last_id);
        }
        let asked = self.ask(ACTION, TIME_LEFT, (key,)).await?;
        let Some(row) = asked.rows.first() else { return self.take_first(ACTION, claim).await };
        let left: Option<i64> = row.get(0);
        let left = left.ok_or_else(|| unintelligible(ACTION, "an expiry that is no time"))?;
        let ends_within = Some(Duration::from_micros(u64::try_from(left).unwrap_or(0)));
        Ok(Acquisition::Held { ends_within })
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        let values = (microseconds(claim), claim.key.as_str(), claim.owner.as_bytes().as_slice());
        let renewed = self.ask("a renewal", RENEW, values).await?;
        Ok(if renewed.found == 1 { Renewal::Renewed { ttl: claim.ttl } } else { Renewal::NotMine })
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let values = (claim.key.as_str(), claim.owner.as_bytes().as_slice());
        let released = self.ask("a release", RELEASE, values).await?;
        Ok(if released.found == 1 { Surrender::Released } else { Surrender::NotMine })
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        let answer = self.ask("asking for the holder", HOLDER, (key.as_str(),)).await?;
        let owner: Option<Vec<u8>> = answer.rows.first().and_then(|row| row.get(0));
        Ok(owner.as_deref().and_then(OwnerValue::from_slice))
    }

    fn reset(&self) {
        self.0.link.reset();
    }
}

fn granted(action: &'static str, claim: &Claim, number: Option<u64>) -> Result<Acquisition, StoreError> {
    let number = number.ok_or_else(|| unintelligible(action, "no token"))?;
    let token = FencingToken::try_from(number).map_err(|error| unintelligible(action, error))?;
    Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }))
}

fn microseconds(claim: &Claim) -> i64 {
    i64::try_from(claim.ttl.as_micros()).unwrap_or(i64::MAX)
}

impl std::fmt::Debug for MysqlStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address knows the password.
        f.debug_struct("MysqlStore").finish_non_exhaustive()
    }
}
