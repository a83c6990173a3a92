//! Writes in MySQL and MariaDB, which cannot insert and update in one statement as the others do.

use std::sync::Arc;
use std::time::Duration;

use leasehold::fence::mysql::{Claimed, FencedTransaction, MysqlFence};
use leasehold::fence::{Ending, FenceError, Receipt};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts};
use tokio::sync::Notify;

use super::{Failure, Seen, Write, failure, plain};
use crate::history::{Outcome, takes_note_away};
use crate::stage::{Orders, Stage};

const READ: &str = "SELECT value, last_entry FROM account WHERE id = ?";
const ENTRY: &str = "INSERT INTO entry (account, op, made_with, based_on) VALUES (?, ?, ?, ?)";
const NUMBER: &str = "SELECT LAST_INSERT_ID()";
const ACCOUNT: &str = "UPDATE account SET value = ?, last_entry = ? WHERE id = ?";
const NOTE: &str = "INSERT INTO note (account, op) VALUES (?, ?) ON DUPLICATE KEY UPDATE op = VALUES(op)";
const NO_NOTE: &str = "DELETE FROM note WHERE account = ?";

/// A connection that is half dead answers nothing.
async fn limited<T>(statement: impl Future<Output = Result<T, mysql_async::Error>>) -> Result<T, String> {
    let answer = tokio::time::timeout(Duration::from_secs(3), statement).await;
    answer.map_err(|late| late.to_string())?.map_err(|error| error.to_string())
}

pub async fn read(claimed: &Claimed, account: &str) -> Result<Seen, Failure> {
    let read = claimed.transaction(async |tx| limited(tx.query_first(READ, (account,))).await).await;
    let row = read.map_err(failure)?.expect("the account is there");
    let (value, entry) = mysql_async::from_row(row);
    Ok(Seen { value, entry })
}

async fn put(tx: &mut FencedTransaction, write: &Write, orders: &Orders) -> Result<i64, String> {
    let Write { account, op, token, seen, .. } = write;
    limited(tx.execute(ENTRY, (account, op, token, seen.entry))).await?;
    let number = limited(tx.query_first(NUMBER, ())).await?.expect("it has a row");
    let (number,): (i64,) = mysql_async::from_row(number);
    limited(tx.execute(ACCOUNT, (seen.value + 1, number, account))).await?;
    orders.reached(Stage::InTransaction);
    if takes_note_away(*op) {
        limited(tx.execute(NO_NOTE, (account,))).await?;
    } else {
        limited(tx.execute(NOTE, (account, op))).await?;
    }
    Ok(number)
}

pub async fn write(
    claimed: &Claimed,
    fence: &MysqlFence,
    write: &Write,
    orders: &Arc<Orders>,
) -> Result<i64, Failure> {
    let written = Notify::new();
    let work = claimed.transaction(async |tx| {
        let number = put(tx, write, orders).await?;
        if write.cancelled {
            written.notify_one();
            std::future::pending::<()>().await;
        }
        orders.reached(Stage::BeforeCommit);
        Ok::<i64, String>(number)
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
async fn found_out(fence: &MysqlFence, receipt: &Receipt) -> Failure {
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

pub async fn connect(address: &str) -> Result<Conn, Failure> {
    Conn::new(Opts::from_url(address).expect("the address is right")).await.map_err(plain)
}

pub async fn read_plain(connection: &mut Conn, account: &str) -> Result<Seen, Failure> {
    let found: Option<(i64, i64)> = connection.exec_first(READ, (account,)).await.map_err(plain)?;
    let (value, entry) = found.expect("the account is there");
    Ok(Seen { value, entry })
}

/// As one does it without a fence.
pub async fn write_plain(connection: &mut Conn, write: &Write) -> Result<i64, Failure> {
    let Write { account, op, token, seen, .. } = write;
    connection.exec_drop(ENTRY, (account, op, token, seen.entry)).await.map_err(plain)?;
    let number = connection.last_insert_id().and_then(|number| i64::try_from(number).ok());
    let number = number.expect("it was just inserted");
    connection.exec_drop(ACCOUNT, (seen.value + 1, number, account)).await.map_err(plain)?;
    let noted = match takes_note_away(*op) {
        true => connection.exec_drop(NO_NOTE, (account,)).await,
        false => connection.exec_drop(NOTE, (account, op)).await,
    };
    noted.map(|()| number).map_err(plain)
}
