//! Fenced writes on real databases: who is refused, what is rolled back, and that nothing is left open.

mod support;

use std::time::Duration;

use leasehold::Leases;
use leasehold::fence::postgres::PostgresFence;
use leasehold::fence::sqlite::SqliteFence;
use leasehold::fence::{FenceError, RowFence};
use leasehold::store::memory::MemoryStore;
use support::holders::{leases, poll_times, two_holders};
use support::proxy::Proxy;
use support::servers::{self, Server};
use tokio_postgres::{Client, NoTls};

struct Postgres {
    fence: PostgresFence,
    plain: Client,
    server: Server,
}

async fn postgres() -> Postgres {
    let server = tokio::task::spawn_blocking(servers::postgres).await.expect("the server starts");
    let address = servers::postgres_address(&server);
    let (plain, connection) = tokio_postgres::connect(&address, NoTls).await.expect("it is up");
    tokio::spawn(connection);
    let fence = PostgresFence::new(&address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    plain
        .batch_execute(
            "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, last_fencing_token BIGINT);
             INSERT INTO accounts VALUES (1, 100, 0), (2, 100, 0), (3, 100, NULL)",
        )
        .await
        .expect("the database is ours");
    Postgres { fence, plain, server }
}

impl Postgres {
    async fn balance(&self, id: i64) -> i64 {
        let row = self.plain.query_one("SELECT balance FROM accounts WHERE id = $1", &[&id]).await;
        row.expect("the account is there").get(0)
    }

    /// Sessions that have begun a transaction and do nothing.
    async fn idle_in_transaction(&self) -> i64 {
        const COUNT: &str = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
        self.plain.query_one(COUNT, &[]).await.expect("it is up").get(0)
    }
}

const SET: &str = "UPDATE accounts SET balance = $2 WHERE id = $1";

#[tokio::test]
async fn postgres_refuses_the_stale_holder_everywhere() {
    let database = postgres().await;
    let (stale, successor) = two_holders().await;
    let early = database.fence.claim(&stale, "accounts").await.expect("it is the first");
    early
        .transaction(async |tx| tx.execute(SET, &[&1_i64, &90_i64]).await)
        .await
        .expect("nobody has taken over yet");
    early
        .transaction(async |tx| tx.execute(SET, &[&1_i64, &80_i64]).await)
        .await
        .expect("a holder may write twice");
    let late = database.fence.claim(&successor, "accounts").await.expect("it is newer");
    // From here on, also rows that the successor has not touched are closed to the stale holder.
    let refused = early.transaction(async |tx| tx.execute(SET, &[&2_i64, &0_i64]).await).await;
    let Err(FenceError::Stale(said)) = refused else { panic!("{refused:?}") };
    assert_eq!((said.presented, said.stored), (stale.token(), successor.token().as_i64()));
    assert!(matches!(database.fence.claim(&stale, "accounts").await, Err(FenceError::Stale(_))));
    // A deleted row does not open the fence again.
    late.transaction(async |tx| tx.execute("DELETE FROM accounts WHERE id = $1", &[&1_i64]).await)
        .await
        .expect("it is the newest");
    let insert = "INSERT INTO accounts VALUES ($1, $2, 0)";
    let back = early.transaction(async |tx| tx.execute(insert, &[&1_i64, &0_i64]).await).await;
    assert!(matches!(back, Err(FenceError::Stale(_))), "{back:?}");
    assert_eq!(database.balance(2).await, 100);
    // A claim may be repeated under the same lease.
    database.fence.claim(&successor, "accounts").await.expect("it is the same lease");
    assert_eq!(database.idle_in_transaction().await, 0);
}

#[tokio::test]
async fn postgres_rolls_back_whatever_does_not_succeed() {
    let database = postgres().await;
    let leases = leases();
    let lease = leases.acquire("accounts").await.expect("it is free");
    let claimed = database.fence.claim(&lease, "accounts").await.expect("it is the first");
    let failed = claimed
        .transaction(async |tx| {
            tx.execute(SET, &[&1_i64, &0_i64]).await.map_err(|error| error.to_string())?;
            Err::<(), _>("no".to_owned())
        })
        .await;
    assert!(matches!(&failed, Err(FenceError::Work(said)) if said == "no"), "{failed:?}");
    assert_eq!((database.balance(1).await, database.idle_in_transaction().await), (100, 0));
    // Shutdown in the middle: the work is dropped, the rollback awaited.
    let work = claimed.transaction(async |tx| {
        tx.execute(SET, &[&1_i64, &0_i64]).await?;
        leases.closing().cancel();
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    });
    let stopped = work.await;
    assert!(matches!(stopped, Err(FenceError::Lost(_))), "{stopped:?}");
    assert_eq!((database.balance(1).await, database.idle_in_transaction().await), (100, 0));
}

/// PostgreSQL calls the commit of a failed transaction a success, although it rolls back.
#[tokio::test]
async fn postgres_does_not_call_a_failed_transaction_committed() {
    let database = postgres().await;
    let leases = leases();
    let lease = leases.acquire("accounts").await.expect("it is free");
    let claimed = database.fence.claim(&lease, "accounts").await.expect("it is the first");
    let swallowed = claimed
        .transaction(async |tx| {
            tx.execute(SET, &[&1_i64, &0_i64]).await?;
            let _swallowed = tx.execute("SELECT 1 / 0", &[]).await;
            Ok::<_, tokio_postgres::Error>(())
        })
        .await;
    assert!(matches!(swallowed, Err(FenceError::Database { .. })), "{swallowed:?}");
    assert_eq!((database.balance(1).await, database.idle_in_transaction().await), (100, 0));
}

/// A transaction whose commit fails is rolled back as well, and that is awaited: to close its connection would leave
/// it open until the server notices, here half a second later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_awaits_the_rollback_after_a_commit_that_failed() {
    let database = postgres().await;
    let proxy = Proxy::before(database.server.port()).await;
    let far = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", proxy.port());
    let fence = PostgresFence::new(&far).expect("the address is right");
    let lease = leases().acquire("accounts").await.expect("it is free");
    let claimed = fence.claim(&lease, "accounts").await.expect("it is the first");
    let swallowed = claimed
        .transaction(async |tx| {
            let _swallowed = tx.execute("SELECT 1 / 0", &[]).await;
            proxy.delay(Duration::from_millis(500));
            Ok::<_, tokio_postgres::Error>(())
        })
        .await;
    assert!(matches!(swallowed, Err(FenceError::Database { .. })), "{swallowed:?}");
    assert_eq!(database.idle_in_transaction().await, 0);
}

/// Drops the transaction after its first poll, after its second, and so on until it gets through; at once, and a
/// moment later, when the answer is on its way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_leaves_nothing_open_wherever_it_is_cancelled() {
    let database = postgres().await;
    let leases = leases();
    let (mut through, mut written) = (0, 100_i64);
    for round in 0..400_u32 {
        let (polls, pause) = (round / 8 + 1, Duration::from_micros(u64::from(round % 8) * 200));
        let lease = leases.acquire("accounts").await.expect("it is free");
        let claimed = database.fence.claim(&lease, "accounts").await.expect("it is newer");
        let new = i64::from(round) + 1000;
        let done = {
            let mut work = std::pin::pin!(claimed.transaction(async |tx| {
                tx.execute(SET, &[&1_i64, &new]).await?;
                tx.execute(SET, &[&2_i64, &new]).await
            }));
            let done = poll_times(work.as_mut(), polls).await;
            tokio::time::sleep(pause).await;
            done
        };
        // The lease is given back only when the transaction has ended.
        assert!(lease.release().await.is_released());
        assert_eq!(database.idle_in_transaction().await, 0, "after {polls} polls");
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

/// The transaction's future can go to another task, as applications do it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_transactions_can_be_spawned() {
    let database = postgres().await;
    let fence = database.fence.clone();
    let leases = leases();
    let worker = tokio::spawn(async move {
        leases
            .run("accounts", |tenure| async move {
                let claimed = fence.claim(&tenure, "accounts").await?;
                claimed.transaction(async |tx| tx.execute(SET, &[&1_i64, &7_i64]).await).await.map_err(
                    |error| match error {
                        FenceError::Work(error) => panic!("{error}"),
                        _ => FenceError::Forgotten { place: String::new(), presented: tenure.token() },
                    },
                )
            })
            .await
    });
    assert_eq!(worker.await.expect("no panic").expect("nobody else writes"), 1);
    assert_eq!(database.balance(1).await, 7);
}

#[tokio::test]
async fn postgres_rows_with_a_token_of_their_own() {
    let database = postgres().await;
    let (stale, successor) = two_holders().await;
    let rows = RowFence::new("accounts", "id", "last_fencing_token").expect("the names are plain");
    let early = database.fence.claim(&stale, "by row, early").await.expect("it is the first");
    let late = database.fence.claim(&successor, "by row, late").await.expect("it is the first");
    late.transaction(async |tx| tx.claim_row(&rows, &1_i64).await).await.expect("it is the first");
    let again = late.transaction(async |tx| tx.claim_row(&rows, &1_i64).await).await;
    assert!(matches!(again, Err(FenceError::Work(FenceError::SameToken { .. }))), "{again:?}");
    late.transaction(async |tx| tx.claim_row_again(&rows, &1_i64).await).await.expect("it said so");
    let refused = early.transaction(async |tx| tx.claim_row(&rows, &1_i64).await).await;
    assert!(matches!(refused, Err(FenceError::Work(FenceError::Stale(_)))), "{refused:?}");
    // What a token by row cannot do: the successor has not written this row.
    early.transaction(async |tx| tx.claim_row(&rows, &2_i64).await).await.expect("the hole is documented");
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
async fn postgres_ends_a_transaction_that_stands_still() {
    let database = postgres().await;
    let (first, second) = (MemoryStore::new(), leases());
    let first = Leases::builder(first).ttl(Duration::from_secs(1)).build().expect("the settings are right");
    let stale = first.acquire("accounts").await.expect("it is free");
    let before = second.acquire("accounts").await.expect("it is free");
    assert!(before.release().await.is_released());
    let successor = second.acquire("accounts").await.expect("it is free");
    let early = database.fence.claim(&stale, "accounts").await.expect("it is the first");
    let stuck = early.transaction(async |tx| {
        tx.execute(SET, &[&1_i64, &0_i64]).await?;
        tokio::time::sleep(Duration::from_secs(4)).await;
        tx.execute(SET, &[&1_i64, &0_i64]).await
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
    assert_eq!((database.balance(1).await, database.idle_in_transaction().await), (100, 0));
}

#[tokio::test]
async fn postgres_says_what_is_wrong() {
    let database = postgres().await;
    let lease = leases().acquire("accounts").await.expect("it is free");
    database.plain.batch_execute("DROP TABLE leasehold_fence").await.expect("the database is ours");
    let refused = database.fence.claim(&lease, "accounts").await.err().expect("there is no table");
    assert!(refused.to_string().contains("create_table"), "{refused}");
    let nobody = format!("host=127.0.0.1 port={} user=nobody dbname=none", database.server.port());
    let stranger = PostgresFence::new(&nobody).expect("the address is right");
    let refused = stranger.claim(&lease, "accounts").await.err().expect("there is no such user");
    assert!(refused.to_string().contains("check that the database runs"), "{refused}");
    assert!(PostgresFence::new("nonsense").is_err());
}

fn sqlite() -> (tempfile::TempDir, SqliteFence, rusqlite::Connection) {
    let directory = servers::directory();
    let path = directory.path().join("bank.db");
    let fence = SqliteFence::open(&path).expect("the directory is ours");
    let plain = rusqlite::Connection::open(&path).expect("the directory is ours");
    plain
        .execute_batch(
            "CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, last_fencing_token INTEGER);
             INSERT INTO accounts VALUES (1, 100, 0), (2, 100, 0), (3, 100, NULL)",
        )
        .expect("the file is ours");
    (directory, fence, plain)
}

const SET_SQLITE: &str = "UPDATE accounts SET balance = ?2 WHERE id = ?1";

fn balance(plain: &rusqlite::Connection, id: i64) -> i64 {
    plain
        .query_row("SELECT balance FROM accounts WHERE id = ?1", [id], |row| row.get(0))
        .expect("it is there")
}

#[tokio::test]
async fn sqlite_refuses_the_stale_holder_everywhere() {
    let (_directory, fence, plain) = sqlite();
    let (stale, successor) = two_holders().await;
    let early = fence.claim(&stale, "accounts").await.expect("it is the first");
    for balance in [90, 80] {
        early.transaction(move |tx| tx.execute(SET_SQLITE, [1, balance])).await.expect("it is the newest");
    }
    let late = fence.claim(&successor, "accounts").await.expect("it is newer");
    let refused = early.transaction(|tx| tx.execute(SET_SQLITE, [2, 0])).await;
    let Err(FenceError::Stale(said)) = refused else { panic!("{refused:?}") };
    assert_eq!((said.presented, said.stored), (stale.token(), successor.token().as_i64()));
    assert!(matches!(fence.claim(&stale, "accounts").await, Err(FenceError::Stale(_))));
    late.transaction(|tx| tx.execute("DELETE FROM accounts WHERE id = 1", []))
        .await
        .expect("it is the newest");
    let back = early.transaction(|tx| tx.execute("INSERT INTO accounts VALUES (1, 0, 0)", [])).await;
    assert!(matches!(back, Err(FenceError::Stale(_))), "{back:?}");
    fence.claim(&successor, "accounts").await.expect("it is the same lease");
    assert_eq!(balance(&plain, 2), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_rolls_back_whatever_does_not_succeed() {
    let (_directory, fence, plain) = sqlite();
    let leases = leases();
    let lease = leases.acquire("accounts").await.expect("it is free");
    let claimed = fence.claim(&lease, "accounts").await.expect("it is the first");
    let failed = claimed
        .transaction(|tx| {
            tx.execute(SET_SQLITE, [1, 0]).map_err(|error| error.to_string())?;
            Err::<(), _>("no".to_owned())
        })
        .await;
    assert!(matches!(&failed, Err(FenceError::Work(said)) if said == "no"), "{failed:?}");
    // A caller who goes away.
    {
        let mut work = std::pin::pin!(claimed.transaction(|tx| {
            std::thread::sleep(Duration::from_millis(200));
            tx.execute(SET_SQLITE, [1, 0])
        }));
        assert!(futures_util::poll!(work.as_mut()).is_pending());
    }
    assert_eq!(balance(&plain, 1), 100);
    // Shutdown in the middle.
    let closing = leases.closing().clone();
    let stopped = claimed
        .transaction(move |tx| {
            closing.cancel();
            tx.execute(SET_SQLITE, [1, 0])
        })
        .await;
    assert!(matches!(stopped, Err(FenceError::Lost(_))), "{stopped:?}");
    assert!(lease.release().await.is_released());
    assert_eq!(balance(&plain, 1), 100);
}

#[tokio::test]
async fn sqlite_rows_with_a_token_of_their_own() {
    let (_directory, fence, plain) = sqlite();
    let (stale, successor) = two_holders().await;
    let rows = RowFence::new("accounts", "id", "last_fencing_token").expect("the names are plain");
    let early = fence.claim(&stale, "by row, early").await.expect("it is the first");
    let late = fence.claim(&successor, "by row, late").await.expect("it is the first");
    let step = |key: i64, again: bool| {
        let rows = rows.clone();
        move |tx: &leasehold::fence::sqlite::FencedTransaction<'_>| {
            if again { tx.claim_row_again(&rows, &key) } else { tx.claim_row(&rows, &key) }
        }
    };
    late.transaction(step(1, false)).await.expect("it is the first");
    let again = late.transaction(step(1, false)).await;
    assert!(matches!(again, Err(FenceError::Work(FenceError::SameToken { .. }))), "{again:?}");
    late.transaction(step(1, true)).await.expect("it said so");
    let refused = early.transaction(step(1, true)).await;
    assert!(matches!(refused, Err(FenceError::Work(FenceError::Stale(_)))), "{refused:?}");
    let missing = late.transaction(step(9, false)).await;
    assert!(matches!(missing, Err(FenceError::Work(FenceError::MissingRow { .. }))), "{missing:?}");
    let null = late.transaction(step(3, false)).await;
    assert!(matches!(null, Err(FenceError::Work(FenceError::NullToken { .. }))), "{null:?}");
    let created = plain.execute_batch("CREATE TABLE plain (id INTEGER PRIMARY KEY)");
    created.expect("the file is ours");
    let added = RowFence::new("plain", "id", "token").expect("the names are plain").add_column();
    plain.execute_batch(&added).expect("the statement is right");
}
