//! What stores say and do when their servers are wrong, away or silent.

mod support;

use std::time::{Duration, Instant};

use leasehold::fence::FenceError;
use leasehold::fence::postgres::PostgresFence;
use leasehold::store::memory::MemoryStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::redis::RedisStore;
use leasehold::store::sqlite::SqliteStore;
use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{LeaseKey, LeaseStore, Leases, LossReason, OwnerValue, ReleaseOutcome, StoreError};
use support::proxy::Proxy;
use support::servers::{self, Server};
use tokio_postgres::NoTls;

fn claim(key: &str) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl: Duration::from_secs(60) }
}

async fn started(start: fn() -> Server) -> Server {
    tokio::task::spawn_blocking(start).await.expect("the server starts")
}

async fn tell(server: &Server, words: &[&str]) -> redis::Value {
    let client = redis::Client::open(servers::redis_address(server)).expect("the address is right");
    let mut connection = client.get_multiplexed_async_connection().await.expect("it is up");
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(&mut connection).await.expect("it obeys")
}

/// Packets are dropped and no connection breaks: only the holder's own clock can tell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_cancels_the_work_before_the_ttl_ends() {
    let server = started(servers::redis).await;
    let proxy = Proxy::before(server.port()).await;
    let ttl = Duration::from_millis(1200);
    let store =
        RedisStore::new(format!("redis://127.0.0.1:{}/", proxy.port())).expect("the address is right");
    let leases = Leases::builder(store).ttl(ttl).build().expect("the settings are right");
    for round in 0..3_u64 {
        let lease = leases.acquire("silent").await.expect("it is free");
        tokio::time::sleep(Duration::from_millis(round * 170)).await;
        proxy.swallow(true);
        let began = Instant::now();
        let lost = lease.cancelled().await;
        // Not later than the TTL after the last request that can have been answered.
        assert!(began.elapsed() < ttl, "round {round}: only after {:?}", began.elapsed());
        assert!(
            matches!(lost.reason, LossReason::RenewalsFailed { failures: 2 } | LossReason::Deadline),
            "{lost}"
        );
        let released = lease.release().await;
        assert!(matches!(released, ReleaseOutcome::AlreadyLost(_)), "{released:?}");
        // The half dead connection is not used again; the old grant ends by its TTL.
        proxy.swallow(false);
        let again =
            leases.acquire_within("silent", Duration::from_secs(10)).await.expect("it ends by its TTL");
        assert!(again.token() > lost.token);
        assert!(again.release().await.is_released());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_outlives_connections_that_are_cut() {
    let server = started(servers::redis).await;
    let proxy = Proxy::before(server.port()).await;
    let store =
        RedisStore::new(format!("redis://127.0.0.1:{}/", proxy.port())).expect("the address is right");
    let leases =
        Leases::builder(store).ttl(Duration::from_millis(1500)).build().expect("the settings are right");
    let lease = leases.acquire("cut").await.expect("it is free");
    let began = Instant::now();
    // Single failures, with good renewals between them.
    while began.elapsed() < Duration::from_secs(5) {
        proxy.cut_all();
        tokio::time::sleep(Duration::from_millis(1100)).await;
        lease.check().expect("one failure in a row is forgiven");
    }
    assert!(lease.release().await.is_released());
}

/// One task and one connection for all of them, and no renewal comes late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_leases_are_renewed_over_one_connection() {
    let server = started(servers::redis).await;
    let store = RedisStore::new(servers::redis_address(&server)).expect("the address is right");
    let ttl = Duration::from_secs(6);
    let leases = Leases::builder(store).ttl(ttl).build().expect("the settings are right");
    let mut held = Vec::new();
    // All at once, the last one would wait for the other 999: that is about the processor.
    for part in 0..20 {
        let acquired = (0..50).map(|number| leases.try_acquire(format!("lease {part} {number}")));
        held.extend(futures_util::future::try_join_all(acquired).await.expect("all are free"));
    }
    tokio::time::sleep(ttl * 2).await;
    for lease in &held {
        lease.check().expect("it is renewed");
    }
    let clients = tell(&server, &["CLIENT", "LIST"]).await;
    let redis::Value::BulkString(list) = clients else { panic!("{clients:?}") };
    // Ours, and that of the question.
    assert_eq!(String::from_utf8_lossy(&list).lines().count(), 2);
    let released = futures_util::future::join_all(held.into_iter().map(leasehold::Lease::release)).await;
    assert!(released.iter().all(ReleaseOutcome::is_released), "{released:?}");
}

/// A server that was restarted in between costs an idle client nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_connections_that_were_closed_are_not_used() {
    let server = started(servers::postgres).await;
    let address = servers::postgres_address(&server);
    let store = PostgresStore::new(&address).expect("the address is right");
    store.create_table().await.expect("the database is ours");
    let (plain, connection) = tokio_postgres::connect(&address, NoTls).await.expect("it is up");
    tokio::spawn(connection);
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    plain.batch_execute(others).await.expect("it is ours");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(matches!(store.acquire(&claim("again")).await, Ok(Acquisition::Granted(_))));
}

/// A connection that is half dead would be waited for as long as the lease is renewed, which is for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_database_does_not_keep_a_lease() {
    let server = started(servers::postgres).await;
    let proxy = Proxy::before(server.port()).await;
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", proxy.port());
    let fence = PostgresFence::new(&address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    let ttl = Duration::from_millis(600);
    let leases = Leases::builder(MemoryStore::new()).ttl(ttl).build().expect("the settings are right");
    let lease = leases.acquire("silent").await.expect("it is free");
    let claimed = fence.claim(&lease, "silent").await.expect("it is the first");
    proxy.swallow(true);
    // The first goes over the connection that there is, the second has to open one.
    for attempt in 0..2 {
        let patience = Duration::from_secs(15);
        let ended = tokio::time::timeout(patience, fence.claim(&lease, "silent")).await;
        let Ok(Err(FenceError::Database { .. })) = ended else {
            panic!("claim {attempt} does not end as it should")
        };
    }
    let began = claimed.transaction(async |tx| tx.execute("SELECT 1", &[]).await);
    let ended = tokio::time::timeout(Duration::from_secs(15), began).await.expect("it has a limit too");
    assert!(matches!(ended, Err(FenceError::Database { .. })), "{ended:?}");
    lease.check().expect("it was renewed all the time");
    proxy.swallow(false);
    fence.claim(&lease, "silent").await.expect("the database answers again");
    assert!(lease.release().await.is_released());
}

#[tokio::test]
async fn redis_says_what_is_wrong() {
    let server = started(servers::redis).await;
    let store = RedisStore::new(servers::redis_address(&server)).expect("the address is right");
    let sound = claim("sound");
    assert!(matches!(store.acquire(&sound).await, Ok(Acquisition::Granted(_))));
    // The counter at its end: no lease without a token, and nothing half done.
    for shard in 0..64 {
        tell(&server, &["SET", &format!("{{leasehold:{shard:02}}}:token"), &i64::MAX.to_string()]).await;
    }
    let full = claim("full");
    assert!(matches!(store.acquire(&full).await, Err(StoreError::TokensExhausted { .. })));
    assert_eq!(store.holder(&full.key).await.expect("it is up"), None);
    // Somebody else's data under our names.
    for shard in 0..64 {
        let counter = format!("{{leasehold:{shard:02}}}:token");
        tell(&server, &["DEL", &counter]).await;
        tell(&server, &["LPUSH", &counter, "x"]).await;
    }
    let error = store.acquire(&claim("foreign")).await.expect_err("the counter is a list");
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("another namespace"), "{error}");
    // A replica.
    tell(&server, &["REPLICAOF", "127.0.0.1", "1"]).await;
    let error = store.renew(&sound).await.expect_err("it only reads");
    assert!(error.is_retryable(), "{error}");
    tell(&server, &["REPLICAOF", "NO", "ONE"]).await;
    assert!(matches!(store.renew(&sound).await, Ok(Renewal::Renewed { .. })));
    // A password.
    tell(&server, &["CONFIG", "SET", "requirepass", "secret"]).await;
    let stranger = RedisStore::new(servers::redis_address(&server)).expect("the address is right");
    let error = stranger.acquire(&claim("locked")).await.expect_err("there is a password now");
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("password"), "{error}");
    // Nobody there.
    let nobody = RedisStore::new(format!("redis://127.0.0.1:{}/", servers::free_port()));
    let error =
        nobody.expect("the address is right").acquire(&claim("nobody")).await.expect_err("it is down");
    assert!(error.is_retryable() && error.to_string().contains("check that it runs"), "{error}");
    assert!(matches!(RedisStore::new("nonsense"), Err(StoreError::Refused { .. })));
}

#[tokio::test]
async fn postgres_says_what_is_wrong() {
    let server = started(servers::postgres).await;
    let address = servers::postgres_address(&server);
    let store = PostgresStore::new(&address).expect("the address is right");
    let error = store.acquire(&claim("early")).await.expect_err("there is no table");
    assert!(
        matches!(error, StoreError::Refused { .. }) && error.to_string().contains("create_table"),
        "{error}"
    );
    store.create_table().await.expect("the database is ours");
    store.create_table().await.expect("it may be repeated");
    let (plain, connection) = tokio_postgres::connect(&address, NoTls).await.expect("it is up");
    tokio::spawn(connection);
    let full = "INSERT INTO leasehold_lease VALUES ('full', '', 9223372036854775807, '-infinity')";
    plain.batch_execute(full).await.expect("the database is ours");
    let error = store.acquire(&claim("full")).await.expect_err("there is no higher token");
    assert!(matches!(error, StoreError::TokensExhausted { .. }), "{error}");
    let replica = PostgresStore::new(&format!("{address} options='-c default_transaction_read_only=on'"));
    let error =
        replica.expect("the address is right").renew(&claim("full")).await.expect_err("it only reads");
    assert!(error.is_retryable(), "{error}");
    let alter = "ALTER TABLE leasehold_lease RENAME COLUMN owner TO holder";
    plain.batch_execute(alter).await.expect("the database is ours");
    let error = store.acquire(&claim("other")).await.expect_err("a column is missing");
    assert!(matches!(error, StoreError::Refused { .. }) && error.to_string().contains("SCHEMA"), "{error}");
    let nobody = format!("host=127.0.0.1 port={} user=postgres", servers::free_port());
    let nobody = PostgresStore::new(&nobody).expect("the address is right");
    let error = nobody.acquire(&claim("nobody")).await.expect_err("it is down");
    assert!(error.is_retryable() && error.to_string().contains("check that it runs"), "{error}");
    assert!(matches!(PostgresStore::new("nonsense"), Err(StoreError::Refused { .. })));
}

#[tokio::test]
async fn sqlite_says_what_is_wrong() {
    let directory = servers::directory();
    let path = directory.path().join("leases.db");
    let error =
        SqliteStore::open(directory.path().join("no/such/folder.db")).expect_err("there is no folder");
    assert!(error.to_string().contains("check the path"), "{error}");
    std::fs::write(&path, "this is no database, although it is long enough to be looked at closely")
        .expect("the directory is ours");
    let error = SqliteStore::open(&path).expect_err("it is a text");
    assert!(error.to_string().contains("not an SQLite database"), "{error}");
    std::fs::remove_file(&path).expect("the directory is ours");
    let store = SqliteStore::open(&path).expect("the directory is ours");
    let plain = rusqlite::Connection::open(&path).expect("the directory is ours");
    let full = "INSERT INTO leasehold_lease VALUES ('full', x'00', 9223372036854775807, '', 0, 1)";
    plain.execute_batch(full).expect("the file is ours");
    let error = store.acquire(&claim("full")).await.expect_err("there is no higher token");
    assert!(matches!(error, StoreError::TokensExhausted { .. }), "{error}");
    plain.execute_batch("DROP TABLE leasehold_lease").expect("the file is ours");
    let error = store.acquire(&claim("gone")).await.expect_err("there is no table");
    assert!(error.to_string().contains("SCHEMA"), "{error}");
}

#[tokio::test]
async fn a_grant_that_comes_too_late_is_given_back() {
    use leasehold::AcquireError;
    use leasehold::clock::{ManualClock, Moment};
    /// A store during whose answer the machine sleeps.
    struct Sleepy(MemoryStore, ManualClock);
    impl LeaseStore for Sleepy {
        fn capabilities(&self) -> leasehold::store::Capabilities {
            self.0.capabilities()
        }
        async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
            let answer = self.0.acquire(claim).await;
            self.1.advance(Duration::from_secs(600));
            answer
        }
        async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
            self.0.renew(claim).await
        }
        async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
            self.0.release(claim).await
        }
    }
    let (store, clock) = (MemoryStore::new(), ManualClock::starting_at(Moment::from_nanoseconds(1)));
    let leases = Leases::builder(Sleepy(store.clone(), clock.clone()))
        .clock(clock)
        .ttl(Duration::from_secs(60))
        .build()
        .expect("the settings are right");
    let late = leases.try_acquire("late").await;
    assert!(matches!(late, Err(AcquireError::TooLate { .. })), "{late:?}");
    leases.close(Duration::from_secs(5)).await.expect("it is given back");
    assert_eq!(store.holder(&LeaseKey::new("late").expect("it is short")).await.expect("it answers"), None);
}
