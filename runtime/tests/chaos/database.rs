//! The protected database as the judge sees it: past all proxies, before and after the workers.

mod on_mysql;

use rusqlite::Connection;
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls, Row};

use crate::history::{Account, Entry};
use crate::ledger::TABLES;
use crate::worker::ACCOUNTS;

const ENTRIES: &str = "SELECT number, account, op, made_with, based_on FROM entry ORDER BY number";
const BALANCES: &str =
    "SELECT id, value, note.op FROM account LEFT JOIN note ON note.account = account.id ORDER BY id";
const NEW_ACCOUNT: &str = "INSERT INTO account (id, value, last_entry) VALUES ($1, 0, 0)";
const WRITES: &str = "SELECT count(*) FROM entry WHERE account = $1";
const LAST_TOKEN: &str = "SELECT last_token FROM leasehold_fence WHERE resource = $1";
const OPEN: &str = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";

/// A server that was just restarted may not let everybody in yet.
async fn client(address: &str) -> Client {
    let mut tries = 0;
    loop {
        match tokio_postgres::connect(address, NoTls).await {
            Ok((client, connection)) => {
                tokio::spawn(connection);
                return client;
            }
            Err(error) if tries > 1000 => panic!("{address}: {error}"),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
        tries += 1;
    }
}

pub enum Database {
    Postgres(Client),
    Sqlite(Connection),
    Mysql(Box<Mutex<mysql_async::Conn>>),
}

impl Database {
    pub async fn open(place: &str) -> Self {
        match place.split_once('=') {
            Some(("postgres", address)) => Self::Postgres(client(address).await),
            Some(("mysql", address)) => Self::Mysql(Box::new(on_mysql::client(address).await.into())),
            Some(("sqlite", path)) => {
                let connection = Connection::open(path).expect("the directory is ours");
                connection.busy_timeout(std::time::Duration::from_secs(60)).expect("it is a plain setting");
                Self::Sqlite(connection)
            }
            _ => panic!("there is no ledger `{place}`"),
        }
    }

    pub async fn prepare(&self) {
        let serial = match self {
            Self::Postgres(_) => "BIGSERIAL PRIMARY KEY",
            Self::Sqlite(_) => "INTEGER PRIMARY KEY AUTOINCREMENT",
            Self::Mysql(_) => "BIGINT PRIMARY KEY AUTO_INCREMENT",
        };
        let text = if matches!(self, Self::Mysql(_)) { "VARCHAR(64)" } else { "TEXT" };
        self.batch(&TABLES.replace("$SERIAL", serial).replace("TEXT", text)).await;
        for account in ACCOUNTS {
            match self {
                Self::Postgres(client) => {
                    client.execute(NEW_ACCOUNT, &[&account]).await.expect("the table is new");
                }
                Self::Mysql(connection) => {
                    on_mysql::new_account(&mut *connection.lock().await, account).await
                }
                Self::Sqlite(connection) => {
                    connection.execute(NEW_ACCOUNT, [account]).expect("the table is new");
                }
            }
        }
    }

    pub async fn batch(&self, statements: &str) {
        match self {
            Self::Postgres(client) => client.batch_execute(statements).await.expect("it is ours"),
            Self::Mysql(connection) => on_mysql::batch(&mut *connection.lock().await, statements).await,
            Self::Sqlite(connection) => connection.execute_batch(statements).expect("it is ours"),
        }
    }

    pub async fn entries(&self) -> Vec<Entry> {
        match self {
            Self::Postgres(client) => {
                let rows = client.query(ENTRIES, &[]).await.expect("it is ours");
                let entry = |row: Row| Entry {
                    number: row.get(0),
                    account: row.get(1),
                    op: row.get(2),
                    token: row.get(3),
                    based_on: row.get(4),
                };
                rows.into_iter().map(entry).collect()
            }
            Self::Mysql(connection) => on_mysql::entries(&mut *connection.lock().await).await,
            Self::Sqlite(connection) => {
                let mut query = connection.prepare(ENTRIES).expect("it is ours");
                let rows = query.query_map([], |row| {
                    Ok(Entry {
                        number: row.get(0)?,
                        account: row.get(1)?,
                        op: row.get(2)?,
                        token: row.get(3)?,
                        based_on: row.get(4)?,
                    })
                });
                rows.and_then(Iterator::collect).expect("it is ours")
            }
        }
    }

    pub async fn accounts(&self) -> Vec<Account> {
        match self {
            Self::Postgres(client) => {
                let rows = client.query(BALANCES, &[]).await.expect("it is ours");
                let account = |row: Row| Account { name: row.get(0), value: row.get(1), note: row.get(2) };
                rows.into_iter().map(account).collect()
            }
            Self::Mysql(connection) => on_mysql::accounts(&mut *connection.lock().await).await,
            Self::Sqlite(connection) => {
                let mut query = connection.prepare(BALANCES).expect("it is ours");
                let rows = query.query_map([], |row| {
                    Ok(Account { name: row.get(0)?, value: row.get(1)?, note: row.get(2)? })
                });
                rows.and_then(Iterator::collect).expect("it is ours")
            }
        }
    }

    async fn number(&self, query: &str, about: &str) -> Option<i64> {
        match self {
            Self::Postgres(client) => {
                client.query_opt(query, &[&about]).await.expect("it is ours").map(|row| row.get(0))
            }
            Self::Mysql(connection) => on_mysql::number(&mut *connection.lock().await, query, about).await,
            Self::Sqlite(connection) => {
                use rusqlite::OptionalExtension;
                connection.query_row(query, [about], |row| row.get(0)).optional().expect("it is ours")
            }
        }
    }

    pub async fn writes(&self, account: &str) -> i64 {
        self.number(WRITES, account).await.unwrap_or(0)
    }

    /// The highest token that the fence of an account has seen.
    pub async fn last_token(&self, account: &str) -> i64 {
        self.number(LAST_TOKEN, account).await.unwrap_or(0)
    }

    /// Transactions that are open and do nothing.
    pub async fn left_open(&self) -> i64 {
        match self {
            Self::Postgres(client) => client.query_one(OPEN, &[]).await.expect("it is ours").get(0),
            Self::Mysql(connection) => on_mysql::left_open(&mut *connection.lock().await).await,
            // One that was left open would have kept all others out.
            Self::Sqlite(_) => 0,
        }
    }
}
