//! MySQL's store and fence on a real MariaDB: what they say when something is wrong, who is refused, what is rolled back, and that nothing is left open.

mod support;

use std::time::Duration;

use leasehold::fence::mysql::{FencedTransaction, MysqlFence};
use leasehold::fence::{FenceError, RowFence};
use leasehold::store::memory::MemoryStore;
use leasehold::store::mysql::MysqlStore;
use leasehold::store::{Acquisition, Claim, Renewal};
use leasehold::{LeaseKey, LeaseStore, Leases, OwnerValue, StoreError};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error};
use support::holders::{leases, poll_times, two_holders};
use support::proxy::Proxy;
use support::servers::{self, Server};

fn claim(key: &str) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl: Duration::from_secs(60) }
}

async fn started() -> Server {
    tokio::task::spawn_blocking(servers::mariadb).await.expect("the server starts")
}

async fn connect(server: &Server) -> Conn {
    let options =
        mysql_async::Opts::from_url(&servers::mariadb_address(server)).expect("the address is right");
    Conn::new(options).await.expect("it is up")
}

/// A server that has closed what nobody used costs an idle client nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_does_not_send_into_a_closed_connection() {
    let server = started().await;
    let store = MysqlStore::new(&servers::mariadb_address(&server)).expect("the address is right");
    store.create_table().await.expect("the database is ours");
    let first = claim("idle");
    assert!(matches!(store.acquire(&first).await, Ok(Acquisition::Granted(_))));
    let mut plain = connect(&server).await;
    let others: Vec<u64> = plain
        .query(
            "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command = 'Sleep'",
        )
        .await
        .expect("it is ours");
    assert!(!others.is_empty());
    for other in others {
        // The one that has asked whether the server is up may be gone by now.
        let _gone = plain.query_drop(format!("KILL {other}")).await;
    }
    tokio::time::sleep(Duration::from_millis(5500)).await;
    assert!(matches!(store.renew(&first).await, Ok(Renewal::Renewed { .. })));
}

#[tokio::test]
async fn the_store_says_what_is_wrong() {
    let server = started().await;
    let address = servers::mariadb_address(&server);
    let store = MysqlStore::new(&address).expect("the address is right");
    let error = store.acquire(&claim("early")).await.expect_err("there is no table");
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("create_table"), "{error}");
    store.create_table().await.expect("the database is ours");
    store.create_table().await.expect("it may be repeated");
    let mut plain = connect(&server).await;
    let full = "INSERT INTO leasehold_lease VALUES ('full', '', 9223372036854775807, '1970-01-01')";
    plain.query_drop(full).await.expect("the database is ours");
    let error = store.acquire(&claim("full")).await.expect_err("there is no higher token");
    assert!(matches!(error, StoreError::TokensExhausted { .. }), "{error}");
    for statement in ["CREATE USER 'reader'@'%'", "GRANT SELECT ON mysql.* TO 'reader'@'%'"] {
        plain.query_drop(statement).await.expect("the database is ours");
    }
    let reader = address.replace("root", "reader");
    let error = MysqlStore::new(&reader).expect("the address is right").acquire(&claim("read")).await;
    let error = error.expect_err("it may only read");
    assert!(error.to_string().contains("must be allowed"), "{error}");
    plain.query_drop("SET GLOBAL read_only = 1").await.expect("the server is ours");
    let grant = "GRANT INSERT, UPDATE ON mysql.* TO 'reader'@'%'";
    plain.query_drop(grant).await.expect("the database is ours");
    let replica = MysqlStore::new(&reader).expect("the address is right");
    let error = replica.renew(&claim("full")).await.expect_err("it only reads");
    assert!(error.is_retryable(), "{error}");
    plain.query_drop("SET GLOBAL read_only = 0").await.expect("the server is ours");
    let stranger = MysqlStore::new(&address.replace("root", "nobody")).expect("the address is right");
    let error = stranger.acquire(&claim("stranger")).await.expect_err("there is no such user");
    assert!(error.to_string().contains("user and password"), "{error}");
    let alter = "ALTER TABLE leasehold_lease CHANGE owner holder BINARY(16)";
    plain.query_drop(alter).await.expect("the database is ours");
    let error = store.acquire(&claim("other")).await.expect_err("a column is missing");
    assert!(matches!(error, StoreError::Refused { .. }) && error.to_string().contains("SCHEMA"), "{error}");
    let nobody = MysqlStore::new(&format!("mysql://root@127.0.0.1:{}/mysql", servers::free_port()));
    let error = nobody.expect("the address is right").acquire(&claim("nobody")).await;
    let error = error.expect_err("it is down");
    assert!(error.is_retryable() && error.to_string().contains("check that it runs"), "{error}");
    assert!(matches!(MysqlStore::new("nonsense"), Err(StoreError::Refused { .. })));
}

struct Database {
    fence: MysqlFence,
    plain: Conn,
    server: Server,
}

async fn database() -> Database {
    let server = started().await;
    let mut plain = connect(&server).await;
    let fence = MysqlFence::new(&servers::mariadb_address(&server)).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    for statement in [
        "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, last_fencing_token BIGINT)",
        "INSERT INTO accounts VALUES (1, 100, 0), (2, 100, 0), (3, 100, NULL)",
    ] {
        plain.query_drop(statement).await.expect("the database is ours");
    }
    Database { fence, plain, server }
}

impl Database {
    async fn balance(&mut self, id: i64) -> i64 {
        let found = self.plain.exec_first("SELECT balance FROM accounts WHERE id = ?", (id,)).await;
        found.expect("it is up").expect("the account is there")
    }

    /// Transactions that have begun and not ended.
    async fn open_transactions(&mut self) -> u64 {
        // InnoDB takes a new look at its transactions only when nobody has asked for 100 ms.
        tokio::time::sleep(Duration::from_millis(120)).await;
        let count = self.plain.query_first("SELECT count(*) FROM information_schema.innodb_trx").await;
        count.expect("it is up").expect("a count has a row")
    }
}

const SET: &str = "UPDATE accounts SET balance = ? WHERE id = ?";

#[tokio::test]
async fn the_stale_holder_is_refused_everywhere() {
    let mut database = database().await;
    let (stale, successor) = two_holders().await;
    let early = database.fence.claim(&stale, "accounts").await.expect("it is the first");
    // The last one changes nothing, and has found its row all the same.
    for balance in [90_i64, 80, 80] {
        let found = early.transaction(async |tx| tx.execute(SET, (balance, 1)).await).await;
        assert_eq!(found.expect("nobody has taken over yet"), 1);
    }
    let late = database.fence.claim(&successor, "accounts").await.expect("it is newer");
    let refused = early.transaction(async |tx| tx.execute(SET, (0, 2)).await).await;
    let Err(FenceError::Stale(said)) = refused else { panic!("{refused:?}") };
    assert_eq!((said.presented, said.stored), (stale.token(), successor.token().as_i64()));
    let refused = database.fence.claim(&stale, "accounts").await;
    assert!(matches!(refused, Err(FenceError::Stale(_))), "{refused:?}");
    late.transaction(async |tx| tx.execute("DELETE FROM accounts WHERE id = 1", ()).await)
        .await
        .expect("it is the newest");
    let back =
        early.transaction(async |tx| tx.execute("INSERT INTO accounts VALUES (1, 0, 0)", ()).await).await;
    assert!(matches!(back, Err(FenceError::Stale(_))), "{back:?}");
    assert_eq!(database.balance(2).await, 100);
    database.fence.claim(&successor, "accounts").await.expect("it is the same lease");
    // Another resource, although only in case or in a space at the end.
    for other in ["Accounts", "accounts "] {
        database.fence.claim(&stale, other).await.expect("it is the first");
    }
    assert_eq!(database.open_transactions().await, 0);
}

#[tokio::test]
async fn what_does_not_succeed_is_rolled_back() {
    let mut database = database().await;
    let leases = leases();
    let lease = leases.acquire("accounts").await.expect("it is free");
    let claimed = database.fence.claim(&lease, "accounts").await.expect("it is the first");
    let failed = claimed
        .transaction(async |tx| {
            tx.execute(SET, (0, 1)).await.map_err(|error| error.to_string())?;
            Err::<(), _>("no".to_owned())
        })
        .await;
    assert!(matches!(&failed, Err(FenceError::Work(said)) if said == "no"), "{failed:?}");
    assert_eq!((database.balance(1).await, database.open_transactions().await), (100, 0));
    // An error that was swallowed: MySQL would go on, and commit the rest.
    let swallowed = claimed
        .transaction(async |tx| {
            tx.execute(SET, (0, 1)).await?;
            let _swallowed = tx.execute("INSERT INTO accounts VALUES (1, 0, 0)", ()).await;
            Ok::<_, Error>(())
        })
        .await;
    assert!(matches!(swallowed, Err(FenceError::Database { .. })), "{swallowed:?}");
    assert_eq!((database.balance(1).await, database.open_transactions().await), (100, 0));
    // Shutdown in the middle of a statement: the work is dropped, the rollback awaited.
    let stopped = claimed
        .transaction(async |tx| {
            tx.execute(SET, (0, 1)).await?;
            let sleep = tx.execute("SELECT SLEEP(0.5)", ());
            let stop = async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                leases.closing().cancel();
            };
            tokio::join!(sleep, stop).0
        })
        .await;
    assert!(matches!(stopped, Err(FenceError::Lost(_))), "{stopped:?}");
    assert_eq!((database.balance(1).await, database.open_transactions().await), (100, 0));
}

/// After a deadlock MySQL has rolled back and runs what follows on its own, without the fence.
#[tokio::test]
async fn work_does_not_go_on_after_a_deadlock() {
    let mut database = database().await;
    let mut rival = connect(&database.server).await;
    // The transaction with fewer changes is the one that InnoDB ends.
    let many: Vec<String> = (100..200).map(|id| format!("({id}, 0, 0)")).collect();
    let insert = format!("INSERT INTO accounts VALUES {}", many.join(", "));
    for statement in ["BEGIN", &insert, "UPDATE accounts SET balance = balance + 1 WHERE id = 2"] {
        rival.query_drop(statement).await.expect("the database is ours");
    }
    let lease = leases().acquire("accounts").await.expect("it is free");
    let claimed = database.fence.claim(&lease, "accounts").await.expect("it is the first");
    let ended = claimed
        .transaction(async |tx| {
            tx.execute(SET, (0, 1)).await?;
            let crossing = rival.query_drop("UPDATE accounts SET balance = balance + 1 WHERE id = 1");
            let (swallowed, _crossed) = tokio::join!(tx.execute(SET, (0, 2)), crossing);
            assert!(matches!(&swallowed, Err(Error::Server(said)) if said.code == 1213), "{swallowed:?}");
            let outside = tx.execute(SET, (0, 1)).await;
            assert!(outside.is_err(), "a write without the fence");
            Ok::<_, Error>(())
        })
        .await;
    assert!(matches!(ended, Err(FenceError::Database { .. })), "{ended:?}");
    rival.query_drop("ROLLBACK").await.expect("it is up");
    assert_eq!(database.balance(1).await, 100);
}

/// Drops the transaction after its first poll, after its second, and so on until it gets through; at once, and a
/// moment later, when the answer is on its way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_stays_open_wherever_it_is_cancelled() {
    let mut database = database().await;
    let leases = leases();
    let (mut through, mut written) = (0, 100_i64);
    for round in 0..160_u32 {
        let (polls, pause) = (round / 4 + 1, Duration::from_micros(u64::from(round % 4) * 400));
        let lease = leases.acquire("accounts").await.expect("it is free");
        let claimed = database.fence.claim(&lease, "accounts").await.expect("it is newer");
        let new = i64::from(round) + 1000;
        let done = {
            let mut work = std::pin::pin!(claimed.transaction(async |tx| {
                tx.execute(SET, (new, 1)).await?;
                tx.execute(SET, (new, 2)).await
            }));
            let done = poll_times(work.as_mut(), polls).await;
            tokio::time::sleep(pause).await;
            done
        };
        // The lease is given back only when the transaction has ended.
        assert!(lease.release().await.is_released());
        assert_eq!(database.open_transactions().await, 0, "after {polls} polls");
        let (first, second) = (database.balance(1).await, database.balance(2).await);
        assert_eq!(first, second, "half a transaction");
        match done {
            Some(done) => {
                done.expect("nobody else writes");
                assert_eq!(first, new);
                through += 1;
            }
            // Dropped during the commit, it is completed.
            None => assert!(first == written || first == new, "{first} out of nothing"),
        }
        written = first;
        if through >= 8 {
            break;
        }
    }
    assert!(through >= 8, "no transaction got through");
}

#[tokio::test]
async fn rows_with_a_token_of_their_own() {
    let database = database().await;
    let (stale, successor) = two_holders().await;
    let rows = RowFence::new("accounts", "id", "last_fencing_token").expect("the names are plain");
    let early = database.fence.claim(&stale, "by row, early").await.expect("it is the first");
    let late = database.fence.claim(&successor, "by row, late").await.expect("it is the first");
    let first = async |tx: &mut FencedTransaction| tx.claim_row(&rows, &1_i64).await;
    late.transaction(first).await.expect("it is the first");
    let again = late.transaction(first).await;
    assert!(matches!(again, Err(FenceError::Work(FenceError::SameToken { .. }))), "{again:?}");
    late.transaction(async |tx| tx.claim_row_again(&rows, &1_i64).await).await.expect("it said so");
    let refused = early.transaction(async |tx| tx.claim_row_again(&rows, &1_i64).await).await;
    assert!(matches!(refused, Err(FenceError::Work(FenceError::Stale(_)))), "{refused:?}");
    let missing = late.transaction(async |tx| tx.claim_row(&rows, &9_i64).await).await;
    assert!(matches!(missing, Err(FenceError::Work(FenceError::MissingRow { .. }))), "{missing:?}");
    let null = late.transaction(async |tx| tx.claim_row(&rows, &3_i64).await).await;
    assert!(matches!(null, Err(FenceError::Work(FenceError::NullToken { .. }))), "{null:?}");
    let absent = RowFence::new("accounts", "id", "no_such_column").expect("the names are plain");
    let refused = late.transaction(async |tx| tx.claim_row(&absent, &1_i64).await).await;
    let Err(FenceError::Work(error)) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("add_column"), "{error}");
}

/// What a process that is frozen inside its transaction does to others.
#[tokio::test]
async fn the_server_ends_a_transaction_that_stands_still() {
    let mut database = database().await;
    let first = Leases::builder(MemoryStore::new()).ttl(Duration::from_secs(1)).build();
    let (first, second) = (first.expect("the settings are right"), leases());
    let stale = first.acquire("accounts").await.expect("it is free");
    let before = second.acquire("accounts").await.expect("it is free");
    assert!(before.release().await.is_released());
    let successor = second.acquire("accounts").await.expect("it is free");
    let early = database.fence.claim(&stale, "accounts").await.expect("it is the first");
    let stuck = early.transaction(async |tx| {
        tx.execute(SET, (0, 1)).await?;
        tokio::time::sleep(Duration::from_secs(4)).await;
        tx.execute(SET, (0, 1)).await
    });
    let takeover = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let began = std::time::Instant::now();
        database.fence.claim(&successor, "accounts").await.expect("the server ends the other's transaction");
        began.elapsed()
    };
    // Renewed all the while, so only the server can end it.
    let (stuck, waited) = tokio::join!(stuck, takeover);
    assert!(stuck.is_err(), "{stuck:?}");
    assert!(waited < Duration::from_secs(3), "{waited:?}");
    assert_eq!((database.balance(1).await, database.open_transactions().await), (100, 0));
}

/// A connection that is half dead would be waited for as long as the lease is renewed, which is for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_database_does_not_keep_a_lease() {
    let database = database().await;
    let proxy = Proxy::before(database.server.port()).await;
    let fence = MysqlFence::new(&format!("mysql://root@127.0.0.1:{}/mysql", proxy.port()));
    let fence = fence.expect("the address is right");
    let leases = Leases::builder(MemoryStore::new()).ttl(Duration::from_millis(600)).build();
    let lease = leases.expect("the settings are right").acquire("silent").await.expect("it is free");
    let claimed = fence.claim(&lease, "silent").await.expect("it is the first");
    let patience = Duration::from_secs(15);
    let silent = |error: FenceError| {
        let said = error.to_string();
        assert!(matches!(error, FenceError::Database { .. }) && said.contains("no answer within"), "{said}");
    };
    proxy.swallow(true);
    // The first goes over the connection that there is, the second has to open one.
    for _ in 0..2 {
        let ended = tokio::time::timeout(patience, fence.claim(&lease, "silent")).await;
        silent(ended.expect("a claim has a limit").expect_err("nobody answers"));
    }
    let begun = claimed.transaction(async |_| Ok::<_, std::convert::Infallible>(()));
    let ended = tokio::time::timeout(patience, begun).await;
    silent(ended.expect("an opening has a limit").expect_err("nobody answers"));
    lease.check().expect("it was renewed all the time");
    proxy.swallow(false);
    fence.claim(&lease, "silent").await.expect("the database answers again");
    // Silence that begins in the middle of the work.
    let swallowed = claimed.transaction(async |_| {
        proxy.swallow(true);
        Ok::<_, std::convert::Infallible>(())
    });
    let ended = tokio::time::timeout(patience, swallowed).await.expect("a commit has a limit");
    assert!(matches!(ended, Err(FenceError::CommitUnknown { .. })), "{ended:?}");
    assert!(lease.release().await.is_released());
}

#[tokio::test]
async fn the_fence_says_what_is_wrong() {
    let mut database = database().await;
    let lease = leases().acquire("accounts").await.expect("it is free");
    database.plain.query_drop("DROP TABLE leasehold_fence").await.expect("the database is ours");
    let refused = database.fence.claim(&lease, "accounts").await.expect_err("there is no table");
    assert!(refused.to_string().contains("create_table"), "{refused}");
    let nobody = format!("mysql://root@127.0.0.1:{}/mysql", servers::free_port());
    let stranger = MysqlFence::new(&nobody).expect("the address is right");
    let refused = stranger.claim(&lease, "accounts").await.expect_err("nobody is there");
    assert!(refused.to_string().contains("check that the database runs"), "{refused}");
    assert!(MysqlFence::new("nonsense").is_err());
}
