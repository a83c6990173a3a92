//! How many round trips each operation needs, counted by a proxy before real servers: in a network they are what an
//! operation costs. Nobody changes a number here by accident.

mod support;

use std::time::Duration;

use leasehold::fence::FenceError;
use leasehold::fence::mysql::MysqlFence;
use leasehold::fence::postgres::PostgresFence;
use leasehold::store::mysql::MysqlStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::redis::RedisStore;
use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{LeaseKey, LeaseStore, OwnerValue};
use support::holders::{leases, two_holders};
use support::proxy::Proxy;
use support::servers::{self, Server};

async fn before(start: fn() -> Server) -> (Server, Proxy) {
    let server = tokio::task::spawn_blocking(start).await.expect("the server starts");
    let proxy = Proxy::before(server.port()).await;
    (server, proxy)
}

fn claim(key: &str) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl: Duration::from_secs(60) }
}

/// An acquire, one that finds the key held, a renewal and a release, with the round trips that each needed.
async fn round_trips(store: &impl LeaseStore, proxy: &Proxy) -> [usize; 4] {
    let (own, other) = (claim("counted"), claim("counted"));
    proxy.requests();
    assert!(matches!(store.acquire(&own).await, Ok(Acquisition::Granted(_))));
    let acquire = proxy.requests();
    assert!(matches!(store.acquire(&other).await, Ok(Acquisition::Held { .. })));
    let held = proxy.requests();
    assert!(matches!(store.renew(&own).await, Ok(Renewal::Renewed { .. })));
    let renew = proxy.requests();
    assert_eq!(store.release(&own).await.expect("it is up"), Surrender::Released);
    [acquire, held, renew, proxy.requests()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_needs_one_also_after_its_scripts_are_flushed() {
    let (server, proxy) = before(servers::redis).await;
    let store =
        RedisStore::new(format!("redis://127.0.0.1:{}/", proxy.port())).expect("the address is right");
    let _connected = round_trips(&store, &proxy).await;
    assert_eq!(round_trips(&store, &proxy).await, [1, 1, 1, 1]);
    let client = redis::Client::open(servers::redis_address(&server)).expect("the address is right");
    let mut plain = client.get_multiplexed_async_connection().await.expect("it is up");
    let flushed: Result<(), _> = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut plain).await;
    flushed.expect("it obeys");
    assert_eq!(round_trips(&store, &proxy).await, [2, 1, 2, 2]);
    assert_eq!(round_trips(&store, &proxy).await, [1, 1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_needs_one_and_a_fence_none_beside_the_transaction() {
    let (_server, proxy) = before(servers::postgres).await;
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", proxy.port());
    let store = PostgresStore::new(&address).expect("the address is right");
    store.create_table().await.expect("the database is ours");
    assert_eq!(round_trips(&store, &proxy).await, [1, 1, 1, 1]);
    let fence = PostgresFence::new(&address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    let (stale, successor) = two_holders().await;
    proxy.requests();
    let early = fence.claim(&stale, "counted").await.expect("it is the first");
    assert_eq!(proxy.requests(), 1, "a claim");
    // The work has none of its own: a plain transaction would need one to begin and one to commit, too.
    early.transaction(async |_| Ok::<_, ()>(())).await.expect("nobody has taken over");
    assert_eq!(proxy.requests(), 2, "a transaction");
    fence.claim(&successor, "counted").await.expect("it is newer");
    proxy.requests();
    let refused = early.transaction(async |_| Ok::<_, ()>(())).await;
    assert!(matches!(refused, Err(FenceError::Stale(_))), "{refused:?}");
    assert_eq!(proxy.requests(), 3, "a transaction that is refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mysql_needs_one_and_a_fence_one_beside_the_transaction() {
    let (_server, proxy) = before(servers::mariadb).await;
    let address = format!("mysql://root@127.0.0.1:{}/mysql", proxy.port());
    let store = MysqlStore::new(&address).expect("the address is right");
    store.create_table().await.expect("the database is ours");
    // Each statement is prepared once for each connection.
    let _prepared = round_trips(&store, &proxy).await;
    assert_eq!(round_trips(&store, &proxy).await, [1, 2, 1, 1]);
    let fence = MysqlFence::new(&address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    let leases = leases();
    for round in 0..2 {
        let lease = leases.acquire("counted").await.expect("it is free");
        proxy.requests();
        let claimed = fence.claim(&lease, "counted").await.expect("it is the newest");
        let claim = proxy.requests();
        claimed.transaction(async |_| Ok::<_, ()>(())).await.expect("nobody has taken over");
        let transaction = proxy.requests();
        if round > 0 {
            // The session's limits, the claim, what has become of it; and of the transaction its beginning, the
            // fence row and the commit.
            assert_eq!((claim, transaction), (3, 3));
        }
        assert!(lease.release().await.is_released());
    }
}
