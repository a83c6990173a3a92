//! What workers write: accounts whose every change leaves an entry that names its writer's token and the entry that
//! the writer had read before. Fenced, or plain as the control that must go wrong.

mod on_mysql;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leasehold::Tenure;
use leasehold::fence::mysql::MysqlFence;
use leasehold::fence::postgres::PostgresFence;
use leasehold::fence::sqlite::SqliteFence;
use leasehold::fence::{Ending, FenceError, Receipt};
use leasehold::fence::{mysql, postgres, sqlite};
use rusqlite::params;
use tokio::sync::Notify;
use tokio_postgres::NoTls;

use crate::history::{Outcome, takes_note_away};
use crate::pool::Pool;
use crate::stage::{Orders, Stage};

/// For both databases.
pub const TABLES: &str = "\
CREATE TABLE account (id TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL, last_entry BIGINT NOT NULL);
CREATE TABLE note (account TEXT NOT NULL PRIMARY KEY, op BIGINT NOT NULL);
CREATE TABLE entry (
    number $SERIAL,
    account TEXT NOT NULL,
    op BIGINT NOT NULL,
    made_with BIGINT NOT NULL,
    based_on BIGINT NOT NULL
);";

const READ: &str = "SELECT value, last_entry FROM account WHERE id = $1";

const WRITE: &str = "\
WITH new AS (
    INSERT INTO entry (account, op, made_with, based_on) VALUES ($1, $2, $3, $4) RETURNING number
)
UPDATE account SET value = $5, last_entry = new.number FROM new WHERE id = $1 RETURNING last_entry";

const ENTRY_SQLITE: &str =
    "INSERT INTO entry (account, op, made_with, based_on) VALUES (?1, ?2, ?3, ?4) RETURNING number";
const ACCOUNT_SQLITE: &str = "UPDATE account SET value = ?2, last_entry = ?3 WHERE id = ?1";

const NOTE: &str = "\
INSERT INTO note (account, op) VALUES ($1, $2) ON CONFLICT (account) DO UPDATE SET op = excluded.op";
const NO_NOTE: &str = "DELETE FROM note WHERE account = $1";

/// What a writer has read.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub value: i64,
    pub entry: i64,
}

/// One write, on the ground of what its writer has seen.
#[derive(Debug, Clone)]
pub struct Write {
    pub account: String,
    pub op: i64,
    /// The owner value of the lease that it is made under.
    pub owner: String,
    pub token: i64,
    pub seen: Seen,
    /// The task is cancelled when its statements have run, and before it commits.
    pub cancelled: bool,
}

/// The database as a worker sees it.
pub enum Ledger {
    Postgres(PostgresFence<Pool>),
    Sqlite(SqliteFence),
    Mysql(MysqlFence),
    PlainMysql(String),
    PlainPostgres(String),
    PlainSqlite(PathBuf),
}

/// An account that a lease has claimed.
pub enum Page {
    Postgres(postgres::Claimed<Pool>, PostgresFence<Pool>),
    Sqlite(sqlite::Claimed),
    Mysql(mysql::Claimed, MysqlFence),
    /// One statement at a time.
    PlainMysql(tokio::sync::Mutex<mysql_async::Conn>),
    PlainPostgres(tokio_postgres::Client),
    PlainSqlite(PathBuf),
}

type Failure = (Outcome, String);

fn failure<E: std::fmt::Display>(error: FenceError<E>) -> Failure {
    let outcome = match &error {
        FenceError::Stale(_) => Outcome::Stale,
        FenceError::CommitUnknown { .. } => Outcome::Unknown,
        // All others say that nothing was changed.
        _ => Outcome::RolledBack,
    };
    (outcome, error.to_string())
}

fn plain(error: impl std::fmt::Display) -> Failure {
    (Outcome::Unknown, error.to_string())
}

impl Ledger {
    /// The database at a place such as `sqlite=/tmp/ledger.db`.
    pub fn at(place: &str, fenced: bool) -> (Self, Option<Pool>) {
        match place.split_once('=') {
            Some(("postgres", address)) if fenced => {
                let pool = Pool::new(address.parse().expect("the address is right"));
                (Self::Postgres(PostgresFence::over(pool.clone())), Some(pool))
            }
            Some(("postgres", address)) => (Self::PlainPostgres(address.to_owned()), None),
            Some(("mysql", address)) if fenced => {
                (Self::Mysql(MysqlFence::new(address).expect("the address is right")), None)
            }
            Some(("mysql", address)) => (Self::PlainMysql(address.to_owned()), None),
            Some(("sqlite", path)) if fenced => {
                (Self::Sqlite(SqliteFence::open(path).expect("the path is right")), None)
            }
            Some(("sqlite", path)) => (Self::PlainSqlite(path.into()), None),
            _ => panic!("there is no ledger `{place}`"),
        }
    }

    pub async fn claim(&self, tenure: &Tenure, account: &str) -> Result<Page, Failure> {
        match self {
            Self::Postgres(fence) => {
                let claimed = fence.claim(tenure, account).await.map_err(failure)?;
                Ok(Page::Postgres(claimed, fence.clone()))
            }
            Self::Sqlite(fence) => fence.claim(tenure, account).await.map(Page::Sqlite).map_err(failure),
            Self::Mysql(fence) => {
                let claimed = fence.claim(tenure, account).await.map_err(failure)?;
                Ok(Page::Mysql(claimed, fence.clone()))
            }
            Self::PlainMysql(address) => Ok(Page::PlainMysql(on_mysql::connect(address).await?.into())),
            Self::PlainPostgres(address) => {
                let (client, connection) = tokio_postgres::connect(address, NoTls).await.map_err(plain)?;
                tokio::spawn(connection);
                Ok(Page::PlainPostgres(client))
            }
            Self::PlainSqlite(path) => Ok(Page::PlainSqlite(path.clone())),
        }
    }
}

impl Page {
    pub async fn read(&self, account: &str) -> Result<Seen, Failure> {
        match self {
            Self::Postgres(claimed, _) => {
                let read = claimed.transaction(async |tx| limited(tx.query_one(READ, &[&account])).await);
                let row = read.await.map_err(failure)?;
                Ok(Seen { value: row.get(0), entry: row.get(1) })
            }
            Self::Sqlite(claimed) => {
                let account = account.to_owned();
                let read = claimed.transaction(move |tx| seen(tx, &account));
                read.await.map_err(failure)
            }
            Self::Mysql(claimed, _) => on_mysql::read(claimed, account).await,
            Self::PlainMysql(connection) => {
                on_mysql::read_plain(&mut *connection.lock().await, account).await
            }
            Self::PlainPostgres(client) => {
                let row = client.query_one(READ, &[&account]).await.map_err(plain)?;
                Ok(Seen { value: row.get(0), entry: row.get(1) })
            }
            Self::PlainSqlite(path) => seen(&opened(path).map_err(plain)?, account).map_err(plain),
        }
    }

    /// Writes, and gives the number of the new entry.
    pub async fn write(&self, write: &Write, orders: &Arc<Orders>) -> Result<i64, Failure> {
        match self {
            Self::Postgres(claimed, fence) => write_postgres(claimed, fence, write, orders).await,
            Self::Sqlite(claimed) => write_sqlite(claimed, write, orders).await,
            Self::Mysql(claimed, fence) => on_mysql::write(claimed, fence, write, orders).await,
            Self::PlainMysql(connection) => on_mysql::write_plain(&mut *connection.lock().await, write).await,
            Self::PlainPostgres(client) => {
                let values = write.seen.value + 1;
                let Write { account, op, token, seen, .. } = write;
                let row = client.query_one(WRITE, &[account, op, token, &seen.entry, &values]).await;
                let number = row.map_err(plain)?.get(0);
                let noted = if takes_note_away(*op) {
                    client.execute(NO_NOTE, &[account]).await
                } else {
                    client.execute(NOTE, &[account, op]).await
                };
                noted.map(|_| number).map_err(plain)
            }
            Self::PlainSqlite(path) => {
                let mut connection = opened(path).map_err(plain)?;
                let transaction = connection.transaction().map_err(plain)?;
                let number = put_sqlite(&transaction, write).map_err(plain)?;
                transaction.commit().map_err(plain)?;
                Ok(number)
            }
        }
    }
}

/// A connection that is half dead answers nothing.
async fn limited<T>(statement: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, String> {
    let answer = tokio::time::timeout(Duration::from_secs(3), statement).await;
    answer.map_err(|late| late.to_string())?.map_err(|error| error.to_string())
}

async fn write_postgres(
    claimed: &postgres::Claimed<Pool>,
    fence: &PostgresFence<Pool>,
    write: &Write,
    orders: &Arc<Orders>,
) -> Result<i64, Failure> {
    let written = Notify::new();
    let Write { account, op, token, seen, cancelled, .. } = write;
    let work = claimed.transaction(async |tx| {
        let value = seen.value + 1;
        let row = limited(tx.query_one(WRITE, &[account, op, token, &seen.entry, &value])).await?;
        orders.reached(Stage::InTransaction);
        if takes_note_away(*op) {
            limited(tx.execute(NO_NOTE, &[account])).await?;
        } else {
            limited(tx.execute(NOTE, &[account, op])).await?;
        }
        if *cancelled {
            written.notify_one();
            std::future::pending::<()>().await;
        }
        orders.reached(Stage::BeforeCommit);
        Ok::<i64, String>(row.get(0))
    });
    let done = tokio::select! {
        biased;
        done = work => done,
        () = written.notified() => return Err((Outcome::RolledBack, "cancelled".to_owned())),
    };
    match done {
        Err(FenceError::CommitUnknown { receipt, .. }) => Err(found_out(fence, &receipt).await),
        done => done.map_err(failure),
    }
}

/// What has become of a write whose commit had no answer, if the database can be asked within a few seconds.
async fn found_out(fence: &PostgresFence<Pool>, receipt: &Receipt) -> Failure {
    let ask = async {
        loop {
            match fence.find_out(receipt).await {
                Ok(Ending::Committed) => return Outcome::Committed,
                Ok(Ending::RolledBack) => return Outcome::RolledBack,
                Ok(_) => return Outcome::Unknown,
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
    let outcome = tokio::time::timeout(Duration::from_secs(6), ask).await.unwrap_or(Outcome::Unknown);
    (outcome, "found out about a commit".to_owned())
}

async fn write_sqlite(
    claimed: &sqlite::Claimed,
    write: &Write,
    orders: &Arc<Orders>,
) -> Result<i64, Failure> {
    let (write, orders) = (write.clone(), Arc::clone(orders));
    let cancelled = write.cancelled;
    let (written, was_written) = tokio::sync::oneshot::channel();
    let (gone, is_gone) = std::sync::mpsc::channel::<()>();
    let work = claimed.transaction(move |tx| {
        let number = put_sqlite(tx, &write)?;
        orders.reached(Stage::InTransaction);
        if cancelled {
            let _unheard = written.send(());
            // An error tells that the caller has gone.
            let _gone = is_gone.recv();
        }
        orders.reached(Stage::BeforeCommit);
        Ok::<i64, rusqlite::Error>(number)
    });
    if !cancelled {
        return work.await.map_err(failure);
    }
    let ended = {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = work.as_mut() => done.map_err(failure),
            _ = was_written => Err((Outcome::RolledBack, "cancelled".to_owned())),
        }
    };
    drop(gone);
    ended
}

fn put_sqlite(connection: &rusqlite::Connection, write: &Write) -> rusqlite::Result<i64> {
    let Write { account, op, token, seen, .. } = write;
    let number: i64 =
        connection.query_row(ENTRY_SQLITE, params![account, op, token, seen.entry], |row| row.get(0))?;
    connection.execute(ACCOUNT_SQLITE, params![account, seen.value + 1, number])?;
    if takes_note_away(*op) {
        connection.execute(NO_NOTE, [account])?;
    } else {
        connection.execute(NOTE, params![account, op])?;
    }
    Ok(number)
}

fn seen(connection: &rusqlite::Connection, account: &str) -> rusqlite::Result<Seen> {
    connection.query_row(READ, [account], |row| Ok(Seen { value: row.get(0)?, entry: row.get(1)? }))
}

fn opened(path: &PathBuf) -> rusqlite::Result<rusqlite::Connection> {
    let connection = rusqlite::Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}
