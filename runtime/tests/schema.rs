//! `verify` on real databases: it finds what is wrong with the tables that fencing relies on, and what it says to put
//! into a migration makes it right.

mod support;

use leasehold::fence::mysql::MysqlFence;
use leasehold::fence::postgres::PostgresFence;
use leasehold::fence::sqlite::SqliteFence;
use leasehold::fence::{RowFence, SchemaError};
use mysql_async::prelude::Queryable;
use support::servers;
use tokio_postgres::NoTls;

/// One of the databases, as `verify` and a migration see it.
trait Database {
    async fn verify(&self, rows: &[RowFence]) -> Result<(), SchemaError>;
    async fn migrate(&mut self, statements: &str);
}

struct Postgres(PostgresFence, tokio_postgres::Client);

impl Database for Postgres {
    async fn verify(&self, rows: &[RowFence]) -> Result<(), SchemaError> {
        self.0.verify(rows).await
    }

    async fn migrate(&mut self, statements: &str) {
        self.1.batch_execute(statements).await.unwrap_or_else(|error| panic!("{statements}: {error:?}"));
    }
}

struct Mysql(MysqlFence, mysql_async::Conn);

impl Database for Mysql {
    async fn verify(&self, rows: &[RowFence]) -> Result<(), SchemaError> {
        self.0.verify(rows).await
    }

    async fn migrate(&mut self, statements: &str) {
        for statement in statements.split(';').filter(|statement| !statement.trim().is_empty()) {
            self.1.query_drop(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }
}

struct Sqlite(SqliteFence, rusqlite::Connection);

impl Database for Sqlite {
    async fn verify(&self, rows: &[RowFence]) -> Result<(), SchemaError> {
        self.0.verify(rows).await
    }

    async fn migrate(&mut self, statements: &str) {
        self.1.execute_batch(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
    }
}

fn kind(error: &SchemaError) -> &'static str {
    match error {
        SchemaError::MissingTable { .. } => "missing table",
        SchemaError::MissingColumn { .. } => "missing column",
        SchemaError::WrongType { .. } => "wrong type",
        SchemaError::Nullable { .. } => "nullable",
        SchemaError::NullTokens { .. } => "null tokens",
        SchemaError::NotUnique { .. } => "not unique",
        SchemaError::NotTransactional { .. } => "not transactional",
        _ => "another",
    }
}

/// Breaks something, has it found under its name, and does what the error says; then all is well.
async fn found_and_mended(database: &mut impl Database, expected: &str, defect: &str) {
    let rows = RowFence::new("accounts", "id", "last_fencing_token").expect("these are plain names");
    database.migrate(defect).await;
    let error = database.verify(std::slice::from_ref(&rows)).await.expect_err(defect);
    assert_eq!(kind(&error), expected, "{defect}: {error}");
    let migration = error.migration().unwrap_or_else(|| panic!("{error} says nothing to do")).to_owned();
    assert!(error.to_string().contains(migration.trim_end()), "{error}");
    database.migrate(&migration).await;
    let verified = database.verify(std::slice::from_ref(&rows)).await;
    verified.unwrap_or_else(|error| panic!("{defect}, and then {migration}: {error}"));
}

/// Defects of the accounts that every database can have; the table has the rows 1 and 2 without tokens at first.
async fn accounts_are_verified(database: &mut impl Database, to_text: &str, to_nullable: &str) {
    const ACCOUNTS: &str = "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)";
    let row = |table| RowFence::new(table, "id", "last_fencing_token").expect("these are plain names");
    let error = database.verify(&[row("accounts")]).await.expect_err("there is no such table");
    assert_eq!((kind(&error), error.migration()), ("missing table", None), "{error}");
    assert!(error.to_string().contains("create it"), "{error}");
    database.migrate(&format!("{ACCOUNTS}; INSERT INTO accounts VALUES (1, 100), (2, 100)")).await;
    found_and_mended(database, "missing column", "SELECT 1").await;
    found_and_mended(database, "wrong type", to_text).await;
    found_and_mended(database, "nullable", to_nullable).await;
    let with_null = format!("{to_nullable}; UPDATE accounts SET last_fencing_token = NULL WHERE id = 1");
    found_and_mended(database, "null tokens", &with_null).await;
    let doubled = [row("accounts"), row("elsewhere")];
    let error = database.verify(&doubled).await.expect_err("only one of them is there");
    assert!(error.to_string().contains("elsewhere"), "{error}");
    // Names are as in SQL: without quotes their case does not matter.
    let shouted = RowFence::new("accounts", "ID", "LAST_FENCING_TOKEN").expect("these are plain names");
    database.verify(&[shouted]).await.expect("it is the same column");
}

#[tokio::test]
async fn postgres_is_verified() {
    let server = tokio::task::spawn_blocking(servers::postgres).await.expect("the server starts");
    let address = servers::postgres_address(&server);
    let (plain, connection) = tokio_postgres::connect(&address, NoTls).await.expect("it is up");
    tokio::spawn(connection);
    let fence = PostgresFence::new(&address).expect("the address is right");
    let mut database = Postgres(fence, plain);
    let error = database.verify(&[]).await.expect_err("nobody has made it");
    database.migrate(error.migration().expect("it is ours")).await;
    let alter = "ALTER TABLE accounts ALTER COLUMN last_fencing_token";
    accounts_are_verified(
        &mut database,
        &format!("{alter} TYPE INTEGER"),
        &format!("{alter} DROP NOT NULL, ALTER COLUMN last_fencing_token DROP DEFAULT"),
    )
    .await;
    for (expected, defect) in [
        ("missing table", "DROP TABLE leasehold_fence"),
        ("missing column", "ALTER TABLE leasehold_fence DROP COLUMN recent"),
        ("missing column", "ALTER TABLE leasehold_fence DROP COLUMN writes"),
        ("wrong type", "ALTER TABLE leasehold_fence ALTER COLUMN last_token TYPE INTEGER"),
        ("nullable", "ALTER TABLE leasehold_fence ALTER COLUMN last_token DROP NOT NULL"),
        ("not unique", "ALTER TABLE leasehold_fence DROP CONSTRAINT leasehold_fence_pkey"),
    ] {
        found_and_mended(&mut database, expected, defect).await;
    }
    // A table of another schema, and one that the search path does not find.
    database.migrate("CREATE SCHEMA other; ALTER TABLE accounts SET SCHEMA other").await;
    let elsewhere =
        RowFence::new("other.accounts", "id", "last_fencing_token").expect("these are plain names");
    database.verify(&[elsewhere]).await.expect("it is named with its schema");
    drop(server);
    let error = database.verify(&[]).await.expect_err("it is down");
    assert!(matches!(error, SchemaError::Database { .. }), "{error}");
}

#[tokio::test]
async fn mysql_is_verified() {
    let server = tokio::task::spawn_blocking(servers::mariadb).await.expect("the server starts");
    let address = servers::mariadb_address(&server);
    let options = mysql_async::Opts::from_url(&address).expect("the address is right");
    let plain = mysql_async::Conn::new(options).await.expect("it is up");
    let fence = MysqlFence::new(&address).expect("the address is right");
    let mut database = Mysql(fence, plain);
    let error = database.verify(&[]).await.expect_err("nobody has made it");
    database.migrate(error.migration().expect("it is ours")).await;
    let modify = "ALTER TABLE accounts MODIFY last_fencing_token";
    accounts_are_verified(
        &mut database,
        &format!("{modify} VARCHAR(20) NOT NULL DEFAULT '0'"),
        &format!("{modify} BIGINT NULL"),
    )
    .await;
    for (expected, defect) in [
        ("missing table", "DROP TABLE leasehold_fence"),
        ("missing column", "ALTER TABLE leasehold_fence DROP COLUMN holder, DROP COLUMN recent"),
        ("wrong type", "ALTER TABLE leasehold_fence MODIFY last_token INT NOT NULL DEFAULT 0"),
        ("nullable", "ALTER TABLE leasehold_fence MODIFY last_token BIGINT"),
        ("not unique", "ALTER TABLE leasehold_fence DROP PRIMARY KEY, ADD KEY (resource)"),
        ("not transactional", "ALTER TABLE leasehold_fence ENGINE = MyISAM"),
        ("not transactional", "ALTER TABLE accounts ENGINE = MyISAM"),
    ] {
        found_and_mended(&mut database, expected, defect).await;
    }
    let elsewhere =
        RowFence::new("mysql.accounts", "id", "last_fencing_token").expect("these are plain names");
    database.verify(&[elsewhere]).await.expect("it is named with its database");
}

#[tokio::test]
async fn sqlite_is_verified() {
    let directory = servers::directory();
    let path = directory.path().join("ledger.db");
    let plain = rusqlite::Connection::open(&path).expect("the directory is ours");
    // It makes its own table.
    let fence = SqliteFence::open(&path).expect("the directory is ours");
    let mut database = Sqlite(fence, plain);
    database.verify(&[]).await.expect("it was just made");
    let drop_it = "ALTER TABLE accounts DROP COLUMN last_fencing_token";
    let again = "ALTER TABLE accounts ADD COLUMN last_fencing_token";
    accounts_are_verified(
        &mut database,
        &format!("{drop_it}; {again} TEXT NOT NULL DEFAULT '0'"),
        &format!("{drop_it}; {again} BIGINT DEFAULT 0"),
    )
    .await;
    let anew =
        |columns: &str| format!("DROP TABLE leasehold_fence; CREATE TABLE leasehold_fence ({columns})");
    for (expected, columns) in [
        (
            "missing column",
            "resource TEXT NOT NULL PRIMARY KEY, last_token BIGINT NOT NULL DEFAULT 0, writes BIGINT NOT NULL DEFAULT 0",
        ),
        (
            "nullable",
            "resource TEXT NOT NULL PRIMARY KEY, last_token BIGINT, holder BLOB NOT NULL, writes BIGINT NOT NULL",
        ),
        (
            "wrong type",
            "resource TEXT NOT NULL PRIMARY KEY, last_token TEXT NOT NULL, holder BLOB NOT NULL, writes BIGINT NOT NULL",
        ),
        (
            "not unique",
            "resource TEXT NOT NULL, last_token BIGINT NOT NULL, holder BLOB NOT NULL, writes BIGINT NOT NULL",
        ),
    ] {
        found_and_mended(&mut database, expected, &anew(columns)).await;
    }
    found_and_mended(&mut database, "missing table", "DROP TABLE leasehold_fence").await;
}
