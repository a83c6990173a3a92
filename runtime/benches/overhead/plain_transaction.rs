//! A transaction of one write, without a fence, as it would be written with the bare client.

use std::path::Path;

use mysql_async::prelude::Queryable;
use rusqlite::Connection;
use tokio_postgres::{Client, NoTls};

pub const TABLE: &str = "CREATE TABLE IF NOT EXISTS bench (id INTEGER PRIMARY KEY, value BIGINT NOT NULL)";
pub const ROWS: &str = "INSERT INTO bench VALUES (1, 0), (2, 0)";
const PLAIN: &str = "UPDATE bench SET value = value + 1 WHERE id = 1";
pub const FENCED: &str = "UPDATE bench SET value = value + 1 WHERE id = 2";

pub enum PlainTransaction {
    Postgres(Client),
    Mysql(mysql_async::Conn),
    Sqlite(Connection),
}

impl PlainTransaction {
    pub async fn postgres(address: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await.expect("it is up");
        tokio::spawn(connection);
        client.batch_execute(TABLE).await.expect("the database is ours");
        client.batch_execute("DELETE FROM bench").await.expect("the database is ours");
        client.batch_execute(ROWS).await.expect("the database is ours");
        Self::Postgres(client)
    }

    pub async fn mysql(address: &str) -> Self {
        let options = mysql_async::Opts::from_url(address).expect("the address is right");
        let mut connection = mysql_async::Conn::new(options).await.expect("it is up");
        for statement in [TABLE, ROWS] {
            connection.query_drop(statement).await.expect("the database is ours");
        }
        Self::Mysql(connection)
    }

    pub fn sqlite(file: &Path) -> Self {
        let connection = Connection::open(file).expect("the directory is ours");
        for (setting, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
            connection.pragma_update(None, setting, value).expect("it is a plain setting");
        }
        connection.execute_batch(TABLE).expect("the file is ours");
        connection.execute_batch(ROWS).expect("the file is ours");
        Self::Sqlite(connection)
    }

    pub async fn run(&mut self) {
        match self {
            Self::Postgres(client) => {
                let transaction = client.transaction().await.expect("it is up");
                transaction.execute(PLAIN, &[]).await.expect("the row is there");
                transaction.commit().await.expect("it is up");
            }
            Self::Mysql(connection) => {
                let begun = connection.start_transaction(mysql_async::TxOpts::new()).await;
                let mut transaction = begun.expect("it is up");
                transaction.exec_drop(PLAIN, ()).await.expect("the row is there");
                transaction.commit().await.expect("it is up");
            }
            Self::Sqlite(connection) => {
                let transaction = connection.transaction().expect("nobody else writes");
                transaction.execute(PLAIN, []).expect("the row is there");
                transaction.commit().expect("the file is ours");
            }
        }
    }
}
