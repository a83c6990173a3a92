//! A store of leases that has lost its data may grant a number twice. Of two leases with one number only the one that
//! has claimed first may write, in each database; and tables that were made before fences knew holders can go on.

mod support;

use leasehold::fence::mysql::{self, MysqlFence};
use leasehold::fence::postgres::{self, PostgresFence};
use leasehold::fence::sqlite::{self, SqliteFence};
use leasehold::fence::{FenceError, StaleToken};
use leasehold::store::memory::MemoryStore;
use leasehold::{Lease, Leases};
use mysql_async::prelude::Queryable;
use support::holders::leases;
use support::servers;
use tokio_postgres::NoTls;

/// Two leases that have the same number, as after a loss of data, and the store that will give a larger one.
async fn doubled() -> (Lease, Lease, Leases) {
    let restored = leases();
    let before = leases().acquire("accounts").await.expect("it is free");
    let after = restored.acquire("accounts").await.expect("it is free");
    assert_eq!(before.token(), after.token());
    (before, after, restored)
}

fn is_doubled<T, E: std::fmt::Debug>(answer: Result<T, FenceError<E>>, lease: &Lease) {
    let error = answer.err().expect("the number is another lease's");
    let FenceError::Stale(said) = &error else { panic!("{error:?}") };
    let StaleToken { presented, stored, .. } = said;
    assert_eq!((presented.as_i64(), *stored), (lease.token().as_i64(), lease.token().as_i64()));
    assert!(said.to_string().contains("granted the number twice"), "{said}");
}

/// The same course of things in each database. The last step needs a hand that lowers the fence row, as a backup does
/// that is put back.
macro_rules! only_one_of_two {
    ($fence:expr, $lower:expr, $nothing:expr) => {{
        let fence = $fence;
        let (before, after, restored) = doubled().await;
        let claimed = fence.claim(&before, "accounts").await.expect("it is the first");
        is_doubled(fence.claim(&after, "accounts").await, &after);
        claimed.transaction($nothing).await.expect("it is the one that has claimed");
        fence.claim(&before, "accounts").await.expect("a lease may claim twice");
        // Also a transaction asks whose the number is, and not only a claim.
        $lower;
        let other = fence.claim(&after, "accounts").await.expect("the row has forgotten the first");
        is_doubled(claimed.transaction($nothing).await, &before);
        other.transaction($nothing).await.expect("it is the one that has claimed");
        is_doubled(fence.claim(&before, "accounts").await, &before);
        // As the error says.
        assert!(after.release().await.is_released());
        let next = restored.acquire("accounts").await.expect("it is free");
        fence.claim(&next, "accounts").await.expect("its number is larger");
    }};
}

const LOWER: &str = "UPDATE leasehold_fence SET last_token = 0 WHERE resource = 'accounts'";

/// A lease whose number is `token`.
async fn with_token(token: i64) -> Lease {
    let leases = Leases::builder(MemoryStore::new()).build().expect("the settings are right");
    loop {
        let lease = leases.acquire("accounts").await.expect("it is free");
        if lease.token().as_i64() == token {
            return lease;
        }
        assert!(lease.release().await.is_released());
    }
}

/// A table as it was made before, whose row has seen 3: without the column, with it, and what may claim then.
macro_rules! table_without_holders {
    ($fence:expr, $lacking:expr, $upgrade:expr) => {{
        let (equal, larger) = (with_token(3).await, with_token(4).await);
        let refused = $fence.claim(&larger, "accounts").await.err().expect("there is no such column");
        assert!(refused.to_string().contains($lacking), "{refused}");
        for _ in 0..2 {
            $upgrade;
        }
        // Nobody knows whose 3 is.
        is_doubled($fence.claim(&equal, "accounts").await, &equal);
        $fence.claim(&larger, "accounts").await.expect("it is larger");
    }};
}

async fn postgres() -> (servers::Server, PostgresFence, tokio_postgres::Client) {
    let server = tokio::task::spawn_blocking(servers::postgres).await.expect("the server starts");
    let address = servers::postgres_address(&server);
    let (plain, connection) = tokio_postgres::connect(&address, NoTls).await.expect("it is up");
    tokio::spawn(connection);
    let fence = PostgresFence::new(&address).expect("the address is right");
    (server, fence, plain)
}

#[tokio::test]
async fn postgres_lets_one_of_two_leases_with_one_number_write() {
    let (_server, fence, plain) = postgres().await;
    fence.create_table().await.expect("the database is ours");
    only_one_of_two!(
        &fence,
        plain.batch_execute(LOWER).await.expect("the database is ours"),
        async |tx: &mut postgres::FencedTransaction<_>| tx.execute("SELECT 1", &[]).await
    );
}

#[tokio::test]
async fn postgres_goes_on_with_a_table_without_holders() {
    let (_server, fence, plain) = postgres().await;
    plain
        .batch_execute(
            "CREATE TABLE leasehold_fence (
                resource TEXT NOT NULL PRIMARY KEY,
                last_token BIGINT NOT NULL DEFAULT 0,
                writes BIGINT NOT NULL DEFAULT 0
            );
            INSERT INTO leasehold_fence (resource, last_token) VALUES ('accounts', 3)",
        )
        .await
        .expect("the database is ours");
    table_without_holders!(
        fence,
        "fence::postgres::UPGRADE",
        fence.create_table().await.expect("the database is ours")
    );
    plain.batch_execute(postgres::UPGRADE).await.expect("it may be repeated");
}

async fn mariadb() -> (servers::Server, MysqlFence, mysql_async::Conn) {
    let server = tokio::task::spawn_blocking(servers::mariadb).await.expect("the server starts");
    let address = servers::mariadb_address(&server);
    let options = mysql_async::Opts::from_url(&address).expect("the address is right");
    let plain = mysql_async::Conn::new(options).await.expect("it is up");
    let fence = MysqlFence::new(&address).expect("the address is right");
    (server, fence, plain)
}

#[tokio::test]
async fn mysql_lets_one_of_two_leases_with_one_number_write() {
    let (_server, fence, mut plain) = mariadb().await;
    fence.create_table().await.expect("the database is ours");
    only_one_of_two!(
        &fence,
        plain.query_drop(LOWER).await.expect("the database is ours"),
        async |tx: &mut mysql::FencedTransaction| tx.execute("DO 0", ()).await
    );
}

#[tokio::test]
async fn mysql_goes_on_with_a_table_without_holders() {
    let (_server, fence, mut plain) = mariadb().await;
    for statement in [
        "CREATE TABLE leasehold_fence (
            resource VARBINARY(512) NOT NULL PRIMARY KEY,
            last_token BIGINT NOT NULL DEFAULT 0,
            writes BIGINT NOT NULL DEFAULT 0
        ) ENGINE = InnoDB",
        "INSERT INTO leasehold_fence (resource, last_token) VALUES ('accounts', 3)",
    ] {
        plain.query_drop(statement).await.expect("the database is ours");
    }
    table_without_holders!(
        fence,
        "fence::mysql::UPGRADE",
        fence.create_table().await.expect("the database is ours")
    );
}

#[tokio::test]
async fn sqlite_lets_one_of_two_leases_with_one_number_write() {
    let directory = servers::directory();
    let path = directory.path().join("bank.db");
    let fence = SqliteFence::open(&path).expect("the directory is ours");
    let plain = rusqlite::Connection::open(&path).expect("the directory is ours");
    only_one_of_two!(
        &fence,
        plain.execute_batch(LOWER).expect("the file is ours"),
        |tx: &sqlite::FencedTransaction<'_>| tx.execute_batch("SELECT 1")
    );
}

#[tokio::test]
async fn sqlite_goes_on_with_a_table_without_holders() {
    let directory = servers::directory();
    let path = directory.path().join("bank.db");
    let plain = rusqlite::Connection::open(&path).expect("the directory is ours");
    plain
        .execute_batch(
            "CREATE TABLE leasehold_fence (
                resource TEXT NOT NULL PRIMARY KEY,
                last_token BIGINT NOT NULL DEFAULT 0 CHECK (typeof(last_token) = 'integer'),
                writes BIGINT NOT NULL DEFAULT 0
            ) WITHOUT ROWID;
            INSERT INTO leasehold_fence (resource, last_token) VALUES ('accounts', 3)",
        )
        .expect("the file is ours");
    let (equal, larger) = (with_token(3).await, with_token(4).await);
    for _ in 0..2 {
        // Opening the file brings the table to its present form.
        let fence = SqliteFence::open(&path).expect("the file is ours");
        is_doubled(fence.claim(&equal, "accounts").await, &equal);
    }
    let fence = SqliteFence::open(&path).expect("the file is ours");
    fence.claim(&larger, "accounts").await.expect("it is larger");
}
