//! Leases in an SQLite file, for processes on one host. Expiry is judged by the host's boot clock, which all its
//! processes share and nobody can set. Not for network file systems, whose locks SQLite cannot rely on.

mod failure;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use self::failure::failure;
use super::{
    Acquisition, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender, TokenDurability,
};
use crate::clock::{BootClock, Clock, Moment};
use crate::key::LeaseKey;
use crate::sqlite_desk::Desk;
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "sqlite";

/// The table of leases. A row is never deleted: it remembers the last token of its key. `ends_at` and `ttl` are
/// nanoseconds on the boot clock of the boot that `boot` names; the grants of another boot have ended.
pub const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS leasehold_lease (
    key TEXT NOT NULL PRIMARY KEY,
    owner BLOB NOT NULL,
    token INTEGER NOT NULL,
    boot TEXT NOT NULL,
    ends_at INTEGER NOT NULL,
    ttl INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

const ACQUIRE: &str = "\
INSERT INTO leasehold_lease AS held (key, owner, token, boot, ends_at, ttl)
VALUES (?1, ?2, 1, ?3, ?4 + ?5, ?5)
ON CONFLICT (key) DO UPDATE
SET owner = excluded.owner, token = held.token + 1, boot = excluded.boot, ends_at = excluded.ends_at,
    ttl = excluded.ttl
WHERE held.boot <> excluded.boot OR held.ends_at <= ?4 OR held.ends_at - ?4 > held.ttl
RETURNING token";

const ENDS_WITHIN: &str = "SELECT ends_at - ?2 FROM leasehold_lease WHERE key = ?1";

const RENEW: &str = "\
UPDATE leasehold_lease SET ends_at = ?4 + ?5, ttl = ?5
WHERE key = ?1 AND owner = ?2 AND boot = ?3 AND ends_at > ?4";

const RELEASE: &str = "\
UPDATE leasehold_lease SET ends_at = 0
WHERE key = ?1 AND owner = ?2 AND boot = ?3 AND ends_at > ?4";

const HOLDER: &str = "\
SELECT owner FROM leasehold_lease WHERE key = ?1 AND boot = ?2 AND ends_at > ?3";

/// Leases in an SQLite file. Clones share one connection, which a thread of its own uses.
///
/// Each grant is on disk before it is answered, so tokens grow through crashes of the process and of the host.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    desk: Desk,
    boot: Arc<str>,
}

impl SqliteStore {
    /// Opens the file, and creates it and the table of leases if they are not there. Blocks while it does.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the file cannot be opened or is no database, or when its table of leases has
    /// other columns.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        const ACTION: &str = "opening the file";
        let connection = Connection::open(path).map_err(|error| failure(ACTION, error))?;
        prepare(&connection).map_err(|error| failure(ACTION, error))?;
        let desk = Desk::start(connection).map_err(|error| StoreError::Unready {
            store: NAME,
            action: "starting its thread",
            cause: error.into(),
        })?;
        Ok(Self { desk, boot: boot_id().into() })
    }

    /// Runs `step` in a transaction that has the write lock from its start, with the moment at which it got it.
    async fn in_turn<T: Send + 'static>(
        &self,
        action: &'static str,
        claim: &Claim,
        step: fn(&Transaction<'_>, &Now<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let (claim, boot) = (claim.clone(), Arc::clone(&self.boot));
        let answer = self.desk.ask(move |connection, _abandoned| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let now = Now { claim: &claim, boot: &boot, moment: BootClock.now() };
            let answer = step(&transaction, &now)?;
            transaction.commit()?;
            Ok(answer)
        });
        let answer = answer.await.map_err(|closed| StoreError::Unreachable {
            store: NAME,
            action,
            cause: closed.into(),
        })?;
        answer.map_err(|error: rusqlite::Error| failure(action, error))
    }
}

/// What every statement is told.
struct Now<'a> {
    claim: &'a Claim,
    boot: &'a str,
    moment: Moment,
}

impl Now<'_> {
    fn nanoseconds(&self) -> i64 {
        i64::try_from(self.moment.as_nanoseconds()).unwrap_or(i64::MAX)
    }

    fn ttl(&self) -> i64 {
        i64::try_from(self.claim.ttl.as_nanos()).unwrap_or(i64::MAX)
    }
}

impl LeaseStore for SqliteStore {
    fn capabilities(&self) -> Capabilities {
        // 100 years of nanoseconds and the time since boot still fit an INTEGER.
        Capabilities::new(NAME).tokens(TokenDurability::Durable)
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        let found = self.in_turn("an acquire", claim, take).await?;
        match found {
            Found::Token(number) => {
                let token = FencingToken::try_from(number).map_err(|error| StoreError::Unintelligible {
                    store: NAME,
                    action: "an acquire",
                    answer: error.to_string(),
                })?;
                Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }))
            }
            Found::Held(left) => {
                let left = left.and_then(|left| u64::try_from(left).ok()).map(Duration::from_nanos);
                Ok(Acquisition::Held { ends_within: left })
            }
        }
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        let renewed = self
            .in_turn("a renewal", claim, |transaction, now| {
                let (key, owner) = (now.claim.key.as_str(), now.claim.owner.as_bytes());
                transaction.execute(RENEW, params![key, owner, now.boot, now.nanoseconds(), now.ttl()])
            })
            .await?;
        Ok(if renewed == 1 { Renewal::Renewed { ttl: claim.ttl } } else { Renewal::NotMine })
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let released = self
            .in_turn("a release", claim, |transaction, now| {
                let (key, owner) = (now.claim.key.as_str(), now.claim.owner.as_bytes());
                transaction.execute(RELEASE, params![key, owner, now.boot, now.nanoseconds()])
            })
            .await?;
        Ok(if released == 1 { Surrender::Released } else { Surrender::NotMine })
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        const ACTION: &str = "asking for the holder";
        let (key, boot) = (key.clone(), Arc::clone(&self.boot));
        let answer = self.desk.ask(move |connection, _abandoned| {
            let now = i64::try_from(BootClock.now().as_nanoseconds()).unwrap_or(i64::MAX);
            let values = params![key.as_str(), boot, now];
            connection.query_row(HOLDER, values, |row| row.get::<_, Vec<u8>>(0)).optional()
        });
        let owner = answer.await.map_err(|closed| StoreError::Unreachable {
            store: NAME,
            action: ACTION,
            cause: closed.into(),
        })?;
        let owner = owner.map_err(|error| failure(ACTION, error))?;
        Ok(owner.as_deref().and_then(OwnerValue::from_slice))
    }
}

enum Found {
    Token(i64),
    Held(Option<i64>),
}

fn take(transaction: &Transaction<'_>, now: &Now<'_>) -> rusqlite::Result<Found> {
    let (key, owner) = (now.claim.key.as_str(), now.claim.owner.as_bytes());
    let token = transaction
        .query_row(ACQUIRE, params![key, owner, now.boot, now.nanoseconds(), now.ttl()], |row| row.get(0))
        .optional()?;
    match token {
        Some(token) => Ok(Found::Token(token)),
        None => transaction
            .query_row(ENDS_WITHIN, params![key, now.nanoseconds()], |row| row.get(0))
            .optional()
            .map(Found::Held),
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    // Waits for other processes inside SQLite; the core's own limit ends a wait that is too long.
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Without it a power failure could take back a grant, and its token with it.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(SCHEMA)
}

/// Tells one boot of the host from the next, whose boot clock begins again. Where the system has no such name,
/// a grant that seems to last longer than its TTL gives the new boot away.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
