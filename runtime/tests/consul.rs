//! The store for Consul against a stand-in: lock delays, sessions that end early, leaders that change, silence, and
//! what it says when something is wrong. A real Consul passes the suite in `stores.rs`, where there is one.

mod support;

use std::time::{Duration, Instant};

use leasehold::store::consul::{ConsulOptions, ConsulStore};
use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{FencingToken, LeaseKey, LeaseStore, Leases, LossReason, OwnerValue, StoreError};
use support::consul_stand_in::ConsulStandIn;
use support::http;
use support::proxy::Proxy;
use support::servers;
use tokio::time::{sleep, timeout};

const LEAST_TTL: Duration = Duration::from_millis(500);

fn options() -> ConsulOptions {
    ConsulOptions::default().least_ttl(LEAST_TTL)
}

fn store_with(port: u16, options: ConsulOptions) -> ConsulStore {
    ConsulStore::with_options(&format!("http://127.0.0.1:{port}"), options).expect("the address is right")
}

fn store(port: u16) -> ConsulStore {
    store_with(port, options())
}

fn claim_for(key: &str, ttl: Duration) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl }
}

fn claim(key: &str) -> Claim {
    claim_for(key, Duration::from_secs(60))
}

async fn token(store: &ConsulStore, claim: &Claim) -> FencingToken {
    match store.acquire(claim).await.expect("it is up") {
        Acquisition::Granted(grant) => grant.token,
        Acquisition::Held { .. } => panic!("{claim:?} is held"),
    }
}

async fn is_held(store: &ConsulStore, key: &str) -> bool {
    matches!(store.acquire(&claim(key)).await.expect("it is up"), Acquisition::Held { .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_few_and_nothing_is_left_behind() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let proxy = Proxy::before(consul.port()).await;
    let store = store(proxy.port());
    let held = claim("counted");
    proxy.requests();
    token(&store, &held).await;
    assert_eq!(proxy.requests(), 2, "a session and a transaction");
    assert!(matches!(store.renew(&held).await, Ok(Renewal::Renewed { .. })));
    assert_eq!(proxy.requests(), 2, "side by side");
    for _ in 0..10 {
        assert!(is_held(&store, "counted").await);
    }
    // A waiter only looks.
    let _watch = store.watch(&held.key).await.expect("it is up");
    sleep(Duration::from_millis(300)).await;
    proxy.requests();
    for _ in 0..10 {
        assert!(is_held(&store, "counted").await);
    }
    assert_eq!(proxy.requests(), 10);
    assert_eq!(store.release(&held).await.expect("it is up"), Surrender::Released);
    sleep(Duration::from_millis(300)).await;
    assert_eq!(consul.sessions(), 0);
}

/// A holder whose session was ended early may not know it yet: nobody else comes in until its own time is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lock_delay_covers_what_ended_early() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let ttl = Duration::from_secs(2);
    let leases = Leases::builder(store(consul.port())).ttl(ttl).build().expect("the settings are right");
    let lease = leases.acquire("early").await.expect("it is free");
    let other = store(consul.port());
    let (ended, deadline) = (Instant::now(), lease.deadline());
    consul.end_all_sessions();
    while is_held(&other, "early").await {
        sleep(Duration::from_millis(20)).await;
    }
    assert!(ended.elapsed() >= ttl - Duration::from_millis(100), "free after {:?}", ended.elapsed());
    assert_eq!(lease.check().expect_err("its renewal told").reason, LossReason::NotMine);
    assert!(deadline <= lease.deadline());
    // Whoever wants it sooner says so, and a release never waits.
    let hasty = store_with(consul.port(), options().lock_delay(Duration::ZERO));
    let held = claim("hasty");
    let before = token(&hasty, &held).await;
    consul.end_all_sessions();
    let next = claim("hasty");
    assert!(token(&hasty, &next).await > before);
    assert_eq!(hasty.release(&next).await.expect("it is up"), Surrender::Released);
    let released = claim("released");
    token(&other, &released).await;
    assert_eq!(other.release(&released).await.expect("it is up"), Surrender::Released);
    token(&other, &claim("released")).await;
}

/// `LockIndex` would begin anew here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_grow_also_when_the_key_is_deleted_by_hand() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let store = store(consul.port());
    let leases = Leases::builder(store.clone()).ttl(Duration::from_secs(2)).build();
    let leases = leases.expect("the settings are right");
    let lease = leases.acquire("by/hand").await.expect("it is free");
    let said = http::request(consul.port(), "DELETE", "/v1/kv/leasehold/by,2fhand", "", "").await;
    assert!(said.ends_with("true"), "{said}");
    let successor = claim("by/hand");
    assert!(token(&store, &successor).await > lease.token());
    let lost = timeout(Duration::from_secs(2), lease.cancelled()).await.expect("the next renewal tells");
    assert_eq!(lost.reason, LossReason::NotMine);
    assert!(!lease.release().await.is_released());
    assert_eq!(store.holder(&successor.key).await.expect("it is up"), Some(successor.owner));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_outlive_changes_of_the_leader() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let store = store(consul.port());
    let ttl = Duration::from_secs(3);
    let leases = Leases::builder(store.clone()).ttl(ttl).build().expect("the settings are right");
    let lease = leases.acquire("leader").await.expect("it is free");
    // A dead holder's lease lasts longer, never shorter.
    let dead = claim_for("dead", Duration::from_millis(800));
    token(&store, &dead).await;
    sleep(Duration::from_millis(1200)).await;
    consul.leaderless(true);
    let error = store.acquire(&claim("other")).await.expect_err("there is no leader");
    assert!(error.is_retryable() && error.to_string().contains("No cluster leader"), "{error}");
    consul.change_leader();
    consul.leaderless(false);
    sleep(Duration::from_millis(1200)).await;
    assert!(is_held(&store, "dead").await, "the new leader counts anew");
    sleep(ttl).await;
    assert!(!is_held(&store, "dead").await);
    lease.check().expect("one failure in a row is forgiven");
    assert!(lease.release().await.is_released());
}

/// Packets are dropped and no connection breaks: only the holder's own clock can tell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_cancels_the_work_before_the_ttl_ends() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let proxy = Proxy::before(consul.port()).await;
    let ttl = Duration::from_millis(1200);
    let store = store_with(proxy.port(), options().lock_delay(Duration::ZERO));
    let leases = Leases::builder(store).ttl(ttl).build().expect("the settings are right");
    for round in 0..3_u64 {
        let lease = leases.acquire_within("silent", Duration::from_secs(20)).await.expect("it is free");
        sleep(Duration::from_millis(round * 170)).await;
        proxy.swallow(true);
        let began = Instant::now();
        let lost = lease.cancelled().await;
        assert!(began.elapsed() < ttl, "round {round}: only after {:?}", began.elapsed());
        assert!(
            matches!(lost.reason, LossReason::RenewalsFailed { failures: 2 } | LossReason::Deadline),
            "{lost}"
        );
        assert!(!lease.release().await.is_released());
        proxy.swallow(false);
        let again = leases.acquire_within("silent", Duration::from_secs(20)).await.expect("it ends");
        assert!(again.token() > lost.token);
        assert!(again.release().await.is_released());
    }
}

/// The agent that is asked goes away, and another one takes its place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_of_several_agents_will_do() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let agents = [Proxy::before(consul.port()).await, Proxy::before(consul.port()).await];
    let gone = servers::free_port();
    let [first, second] = agents.each_ref().map(Proxy::port);
    let address = format!("http://127.0.0.1:{gone},http://127.0.0.1:{first},http://127.0.0.1:{second}");
    let store = ConsulStore::with_options(&address, options()).expect("the address is right");
    let ttl = Duration::from_secs(3);
    let leases = Leases::builder(store).ttl(ttl).build().expect("the settings are right");
    let lease = leases.acquire("agents").await.expect("one of them is up");
    for silent in agents.iter().cycle().take(3) {
        silent.swallow(true);
        let began = Instant::now();
        while began.elapsed() < ttl + Duration::from_millis(500) {
            lease.check().expect("the other one is asked");
            sleep(Duration::from_millis(20)).await;
        }
        silent.swallow(false);
        // What was swallowed has left its connections in disorder.
        silent.cut_all();
    }
    assert!(lease.release().await.is_released());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_end_with_their_waiters_and_come_again() {
    let consul = ConsulStandIn::start(LEAST_TTL);
    let (holder, waiter) = (store(consul.port()), store(consul.port()));
    for round in 0..3 {
        let held = claim("again");
        token(&holder, &held).await;
        let mut watch = waiter.watch(&held.key).await.expect("it is up");
        let mut other = waiter.watch(&held.key).await.expect("it is up");
        // What happens to other keys is no news.
        let unrelated = claim("unrelated");
        token(&holder, &unrelated).await;
        assert_eq!(holder.release(&unrelated).await.expect("it is up"), Surrender::Released);
        assert!(timeout(Duration::from_millis(100), watch.hint()).await.is_err());
        assert_eq!(holder.release(&held).await.expect("it is up"), Surrender::Released);
        let patience = Duration::from_secs(5);
        let both = async { tokio::join!(watch.hint(), other.hint()) };
        timeout(patience, both).await.unwrap_or_else(|_| panic!("no hint in round {round}"));
        drop((watch, other));
        // Sometimes the asking has ended by the next round, sometimes not.
        sleep(Duration::from_millis(700 * round)).await;
    }
    // Also when a holder has died.
    let dead = claim_for("dead", LEAST_TTL);
    token(&holder, &dead).await;
    let mut watch = waiter.watch(&dead.key).await.expect("it is up");
    timeout(Duration::from_secs(5), watch.hint()).await.expect("its session ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_what_is_wrong() {
    let consul = ConsulStandIn::with_token(Duration::from_secs(10), Some("a-secret"));
    let at = |user: &str| {
        let address = format!("http://{user}127.0.0.1:{}", consul.port());
        ConsulStore::with_options(&address, options()).expect("the address is right")
    };
    for user in ["", ":wrong@"] {
        let error = at(user).acquire(&claim("closed")).await.expect_err("it may not");
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("session:write"), "{error}");
    }
    let known = at(":a-secret@");
    assert!(!format!("{known:?}").contains("a-secret"));
    let held = claim("open");
    token(&known, &held).await;
    let mut watch = known.watch(&held.key).await.expect("it may look");
    assert_eq!(known.release(&held).await.expect("it may"), Surrender::Released);
    timeout(Duration::from_secs(5), watch.hint()).await.expect("a hint comes");
    // A TTL that these agents do not keep.
    let error =
        known.acquire(&claim_for("short", Duration::from_secs(1))).await.expect_err("it is too short");
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("session_ttl_min"), "{error}");
    let unsaid = ConsulStore::new("http://127.0.0.1:1").expect("the address is right");
    assert!(
        Leases::builder(unsaid).ttl(Duration::from_secs(9)).build().is_err(),
        "the least are ten seconds"
    );

    for address in ["nonsense", "https://127.0.0.1:1", "http://127.0.0.1:1/v1", ""] {
        let error = ConsulStore::new(address).expect_err("it cannot be used");
        assert!(error.to_string().contains("write it as"), "{error}");
    }
    let nobody = store(servers::free_port());
    let error = nobody.acquire(&claim("nobody")).await.expect_err("it is down");
    assert!(error.is_retryable() && error.to_string().contains("check that it runs"), "{error}");
    for (answer, advice) in [
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\nNot Found", "of a Consul agent"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n<html></html>", "something else"),
        ("HTTP/1.1 500 Oops\r\ncontent-length: 9\r\n\r\nrpc error", "tried again"),
        ("HTTP/1.1 429 Slow\r\ncontent-length: 4\r\n\r\nslow", "tried again"),
        ("-ERR unknown command\r\n", "cannot be reached"),
    ] {
        let store = store(http::always(answer).await);
        let error = store.acquire(&claim("elsewhere")).await.expect_err("it is no Consul");
        assert!(error.to_string().contains(advice), "{answer}: {error}");
    }
    let strange =
        store(http::always("HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"ID\":\"../..\"}").await);
    let error = strange.acquire(&claim("strange")).await.expect_err("it is no session's name");
    assert!(matches!(error, StoreError::Unintelligible { .. }), "{error}");
}
