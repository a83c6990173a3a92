//! Commits whose answer is lost: nobody is told that they happened, or that they did not, and it can be found out.

mod support;

use std::time::Duration;

use leasehold::fence::mysql::MysqlFence;
use leasehold::fence::postgres::PostgresFence;
use leasehold::fence::{Ending, FenceError, Receipt};
use leasehold::store::memory::MemoryStore;
use leasehold::{Lease, Leases};
use mysql_async::prelude::Queryable;
use support::proxy::Proxy;
use support::servers::{self, Server};
use tokio_postgres::NoTls;

const TABLE: &str = "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)";
const ROW: &str = "INSERT INTO account VALUES (1, 100)";
const WRITE: &str = "UPDATE account SET balance = balance + 1 WHERE id = 1";
const BALANCE: &str = "SELECT balance FROM account WHERE id = 1";

async fn started(start: fn() -> Server) -> Server {
    tokio::task::spawn_blocking(start).await.expect("the server starts")
}

/// With a short TTL: after it the server ends a transaction whose client is gone.
async fn lease() -> (Lease, Leases) {
    let leases = Leases::builder(MemoryStore::new()).ttl(Duration::from_secs(2)).build();
    let leases = leases.expect("the settings are right");
    (leases.acquire("accounts").await.expect("it is free"), leases)
}

fn receipt<T: std::fmt::Debug, E: std::fmt::Debug>(ended: Result<T, FenceError<E>>) -> Receipt {
    match ended {
        Err(FenceError::CommitUnknown { receipt, .. }) => receipt,
        other => panic!("the answer was lost, and yet: {other:?}"),
    }
}

/// The same course of things in both databases, through a proxy that loses first the answer and then the commit.
macro_rules! found_out {
    ($fence:expr, $proxy:expr, $balance:expr, $none:expr) => {{
        let (fence, proxy) = ($fence, $proxy);
        let (lease, leases) = lease().await;
        let claimed = fence.claim(&lease, "accounts").await.expect("it is the first");
        let ended = claimed.transaction(async |tx| {
            let written = tx.execute(WRITE, $none).await;
            proxy.swallow_answers(true);
            written
        });
        let committed = receipt(ended.await);
        proxy.swallow_answers(false);
        assert_eq!(fence.find_out(&committed).await.expect("it answers"), Ending::Committed);
        assert_eq!($balance, 101);

        let ended = claimed.transaction(async |tx| {
            let written = tx.execute(WRITE, $none).await;
            proxy.swallow(true);
            written
        });
        let lost = receipt(ended.await);
        // Its server has not heard of the end, and keeps the transaction open; the answer waits for that.
        proxy.swallow(false);
        assert_eq!(fence.find_out(&lost).await.expect("it answers"), Ending::RolledBack);
        assert_eq!($balance, 101);

        // Others go on meanwhile, and both stay known for a while.
        assert!(lease.release().await.is_released());
        let next = leases.acquire("accounts").await.expect("it is free");
        let claimed = fence.claim(&next, "accounts").await.expect("it is newer");
        for written in 1..=16 {
            claimed.transaction(async |tx| tx.execute(WRITE, $none).await).await.expect("nobody else writes");
            let known = if written < 16 { Ending::Committed } else { Ending::NoLongerKnown };
            assert_eq!(fence.find_out(&committed).await.expect("it answers"), known, "after {written}");
        }
        assert_eq!(fence.find_out(&lost).await.expect("it answers"), Ending::RolledBack);
        assert_eq!($balance, 117);
    }};
}

struct Postgres {
    proxy: Proxy,
    fence: PostgresFence,
    plain: tokio_postgres::Client,
    _server: Server,
}

async fn postgres() -> Postgres {
    let server = started(servers::postgres).await;
    let proxy = Proxy::before(server.port()).await;
    let address = servers::postgres_address(&server);
    let (plain, connection) = tokio_postgres::connect(&address, NoTls).await.expect("it is up");
    tokio::spawn(connection);
    plain.batch_execute(&format!("{TABLE}; {ROW}")).await.expect("the database is ours");
    let far = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", proxy.port());
    let fence = PostgresFence::new(&far).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    Postgres { proxy, fence, plain, _server: server }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_finds_out_about_a_commit() {
    let Postgres { proxy, fence, plain, _server } = postgres().await;
    found_out!(&fence, &proxy, plain.query_one(BALANCE, &[]).await.expect("it is up").get::<_, i32>(0), &[]);
}

/// The last words of a session that is ended can stand where the answer to a commit would, also when that is done.
/// Here they come before it; nobody can tell by them.
#[tokio::test]
async fn postgres_does_not_take_the_end_of_a_session_for_a_rollback() {
    const ENDED_IN_ITS_COMMIT: &str = "\
        CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON account DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION end_session()";
    let Postgres { proxy: _, fence, plain, _server } = postgres().await;
    plain.batch_execute(ENDED_IN_ITS_COMMIT).await.expect("the database is ours");
    let (lease, _leases) = lease().await;
    let claimed = fence.claim(&lease, "accounts").await.expect("it is the first");
    let ended = claimed.transaction(async |tx| tx.execute(WRITE, &[]).await).await;
    let said = ended.as_ref().err().map(ToString::to_string).unwrap_or_default();
    assert!(said.contains("FATAL"), "{said}");
    assert_eq!(fence.find_out(&receipt(ended)).await.expect("it answers"), Ending::RolledBack);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mysql_finds_out_about_a_commit() {
    let server = started(servers::mariadb).await;
    let proxy = Proxy::before(server.port()).await;
    let options = mysql_async::Opts::from_url(&servers::mariadb_address(&server));
    let mut plain = mysql_async::Conn::new(options.expect("the address is right")).await.expect("it is up");
    for statement in [TABLE, ROW] {
        plain.query_drop(statement).await.expect("the database is ours");
    }
    let fence = MysqlFence::new(&format!("mysql://root@127.0.0.1:{}/mysql", proxy.port()));
    let fence = fence.expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    found_out!(
        &fence,
        &proxy,
        plain.query_first::<i32, _>(BALANCE).await.expect("it is up").expect("the row is there"),
        ()
    );
}
