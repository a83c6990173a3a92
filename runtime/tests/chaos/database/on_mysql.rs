//! The judge's statements in MySQL and MariaDB.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts};

use super::{BALANCES, ENTRIES};
use crate::history::{Account, Entry};

const NEW_ACCOUNT: &str = "INSERT INTO account (id, value, last_entry) VALUES (?, 0, 0)";
const OPEN: &str = "SELECT count(*) FROM information_schema.innodb_trx";

/// A server that was just restarted may not let everybody in yet.
pub async fn client(address: &str) -> Conn {
    let options = Opts::from_url(address).expect("the address is right");
    let mut tries = 0;
    loop {
        match Conn::new(options.clone()).await {
            Ok(connection) => return connection,
            Err(error) if tries > 1000 => panic!("{address}: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        tries += 1;
    }
}

pub async fn batch(connection: &mut Conn, statements: &str) {
    for statement in statements.split(';').filter(|statement| !statement.trim().is_empty()) {
        connection.query_drop(statement).await.expect("it is ours");
    }
}

pub async fn new_account(connection: &mut Conn, account: &str) {
    connection.exec_drop(NEW_ACCOUNT, (account,)).await.expect("the table is new");
}

pub async fn entries(connection: &mut Conn) -> Vec<Entry> {
    let entry = |(number, account, op, token, based_on)| Entry { number, account, op, token, based_on };
    connection.query_map(ENTRIES, entry).await.expect("it is ours")
}

pub async fn accounts(connection: &mut Conn) -> Vec<Account> {
    let account = |(name, value, note)| Account { name, value, note };
    connection.query_map(BALANCES, account).await.expect("it is ours")
}

pub async fn number(connection: &mut Conn, query: &str, about: &str) -> Option<i64> {
    connection.exec_first(query.replace("$1", "?"), (about,)).await.expect("it is ours")
}

/// InnoDB takes a new look at its transactions only when nobody has asked for 100 ms.
pub async fn left_open(connection: &mut Conn) -> i64 {
    tokio::time::sleep(Duration::from_millis(120)).await;
    connection.query_first(OPEN).await.expect("it is ours").expect("a count has a row")
}
