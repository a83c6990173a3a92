//! The store for etcd on real servers: what it says when something is wrong, how many requests it needs, and what
//! happens to leases when servers crash, freeze or fall silent, or when the key is deleted by hand.

mod support;

use std::time::{Duration, Instant};

use leasehold::store::etcd::EtcdStore;
use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{
    FencingToken, Lease, LeaseKey, LeaseStore, Leases, LossReason, OwnerValue, ReleaseOutcome, StoreError,
};
use rustix::process::{Pid, Signal, kill_process};
use support::http;
use support::proxy::Proxy;
use support::servers::{self, Server};

fn claim(key: &str) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl: Duration::from_secs(60) }
}

async fn started() -> Server {
    tokio::task::spawn_blocking(servers::etcd).await.expect("the server starts")
}

fn store(port: u16) -> EtcdStore {
    EtcdStore::new(&format!("http://127.0.0.1:{port}")).expect("the address is right")
}

fn leases(store: EtcdStore, ttl: Duration) -> Leases {
    Leases::builder(store).ttl(ttl).build().expect("the settings are right")
}

/// Asks the gateway directly, as an operator would.
async fn tell(server: &Server, path: &str, message: &str) -> String {
    http::post(server.port(), path, message).await
}

async fn token(store: &EtcdStore, claim: &Claim) -> FencingToken {
    match store.acquire(claim).await.expect("it is up") {
        Acquisition::Granted(grant) => grant.token,
        Acquisition::Held { .. } => panic!("{claim:?} is held"),
    }
}

/// One acquire, renewal and release, with the requests that each needed.
async fn requests(store: &EtcdStore, proxy: &Proxy) -> [usize; 3] {
    let claim = claim("counted");
    proxy.requests();
    token(store, &claim).await;
    let acquire = proxy.requests();
    assert!(matches!(store.renew(&claim).await, Ok(Renewal::Renewed { .. })));
    let renew = proxy.requests();
    assert_eq!(store.release(&claim).await.expect("it is up"), Surrender::Released);
    [acquire, renew, proxy.requests()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_few() {
    let server = started().await;
    let proxy = Proxy::before(server.port()).await;
    let store = store(proxy.port());
    // The two requests of a renewal go side by side.
    assert_eq!(requests(&store, &proxy).await, [2, 2, 1]);
}

/// Every etcd lease that was granted on the way is gone: of losers, of waiters, of callers who went away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_behind() {
    let server = started().await;
    let holder = leases(store(server.port()), Duration::from_secs(60));
    let lease = holder.acquire("busy").await.expect("it is free");
    let loser = leases(store(server.port()), Duration::from_secs(60));
    for _ in 0..20 {
        assert!(loser.try_acquire("busy").await.is_err());
    }
    let waiter = loser.acquire_within("busy", Duration::from_secs(2)).await;
    assert!(waiter.is_err(), "it is held");
    drop(tokio::time::timeout(Duration::from_millis(300), loser.acquire("busy")).await);
    assert!(lease.release().await.is_released());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let left = tell(&server, "/v3/lease/leases", "{}").await;
    assert!(!left.contains("\"ID\""), "{left}");
}

/// While it waits, a waiter costs the cluster no agreement.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_writes_nothing() {
    let server = started().await;
    let holder = store(server.port());
    let held = claim("waited for");
    token(&holder, &held).await;
    let waiter = store(server.port());
    let _watch = waiter.watch(&held.key).await.expect("it is up");
    let before = tell(&server, "/v3/maintenance/status", "{}").await;
    for _ in 0..20 {
        let refused = waiter.acquire(&Claim { key: held.key.clone(), ..claim("other") }).await;
        assert!(matches!(refused, Ok(Acquisition::Held { .. })), "{refused:?}");
    }
    let after = tell(&server, "/v3/maintenance/status", "{}").await;
    assert_eq!(number(&before, "raftIndex"), number(&after, "raftIndex"));
    // And it gets the lease when it is free.
    assert_eq!(holder.release(&held).await.expect("it is up"), Surrender::Released);
    token(&waiter, &Claim { key: held.key.clone(), ..claim("other") }).await;
}

/// A field of one of the gateway's answers.
fn number(answer: &str, field: &str) -> u64 {
    let (_, rest) = answer.split_once(&format!("\"{field}\":\"")).unwrap_or_else(|| panic!("{answer}"));
    rest.split('"').next().and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{answer}"))
}

/// Hints come also when a holder has died without a release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_ttl_wakes_waiters() {
    let server = started().await;
    let store = store(server.port());
    let mut dead = claim("dead");
    dead.ttl = Duration::from_secs(2);
    token(&store, &dead).await;
    let mut watch = store.watch(&dead.key).await.expect("it is up");
    let woken = tokio::time::timeout(Duration::from_secs(15), watch.hint()).await;
    woken.expect("its lease ends");
    token(&store, &Claim { key: dead.key.clone(), ..claim("next") }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_deleted_by_hand_is_lost() {
    let server = started().await;
    let store = store(server.port());
    let leases = leases(store.clone(), Duration::from_secs(3));
    let lease = leases.acquire("deleted").await.expect("it is free");
    // "leasehold/deleted"
    let deleted = tell(&server, "/v3/kv/deleterange", r#"{"key":"bGVhc2Vob2xkL2RlbGV0ZWQ="}"#).await;
    assert!(deleted.contains(r#""deleted":"1""#), "{deleted}");
    let successor = claim("deleted");
    assert!(token(&store, &successor).await > lease.token());
    let lost = tokio::time::timeout(Duration::from_secs(3), lease.cancelled()).await;
    assert_eq!(lost.expect("the next renewal tells").reason, LossReason::NotMine);
    assert!(!lease.release().await.is_released());
    assert_eq!(store.holder(&successor.key).await.expect("it is up"), Some(successor.owner));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_and_tokens_outlive_a_crash_of_the_server() {
    let mut server = started().await;
    let store = store(server.port());
    let leases = leases(store.clone(), Duration::from_secs(30));
    let lease = leases.acquire("crash").await.expect("it is free");
    let mut tokens = vec![lease.token()];
    for _ in 0..3 {
        server.crash();
        server = tokio::task::spawn_blocking(move || {
            server.restart();
            server
        })
        .await
        .expect("it starts again");
        answers(&store).await;
        let other = claim("other");
        tokens.push(token(&store, &other).await);
        assert_eq!(store.release(&other).await.expect("it is up"), Surrender::Released);
        assert!(matches!(store.acquire(&claim("crash")).await, Ok(Acquisition::Held { .. })));
    }
    assert!(tokens.is_sorted() && tokens.windows(2).all(|pair| pair[0] != pair[1]), "{tokens:?}");
    lease.check().expect("it was renewed, or its deadline has not come");
    assert!(lease.release().await.is_released());
    assert!(token(&store, &claim("crash")).await > tokens[3]);
}

/// It accepts connections before it has a leader.
async fn answers(store: &EtcdStore) {
    let began = Instant::now();
    while let Err(error) = store.holder(&claim("any").key).await {
        assert!(began.elapsed() < Duration::from_secs(30), "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// What comes before the silence is not what is tested: on a busy machine etcd's disk may take longer than an attempt.
async fn acquired_in_the_end(leases: &Leases, key: &str) -> Lease {
    let began = Instant::now();
    loop {
        match leases.acquire_within(key, Duration::from_secs(20)).await {
            Ok(lease) => return lease,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "{error}"),
        }
    }
}

/// Packets are dropped, or the server stands still, and no connection breaks: only the holder's own clock can tell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_cancels_the_work_before_the_ttl_ends() {
    let server = started().await;
    let proxy = Proxy::before(server.port()).await;
    let ttl = Duration::from_secs(2);
    let leases = leases(store(proxy.port()), ttl);
    let process = Pid::from_raw(i32::try_from(server.id()).expect("ids are small")).expect("it runs");
    for round in 0..4_u64 {
        let lease = acquired_in_the_end(&leases, "silent").await;
        tokio::time::sleep(Duration::from_millis(round * 170)).await;
        if round % 2 == 0 {
            proxy.swallow(true)
        } else {
            signal(process, Signal::STOP)
        }
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
        if round % 2 == 0 {
            proxy.swallow(false)
        } else {
            signal(process, Signal::CONT)
        }
        // The half dead connections are not used again; the old grant ends by its TTL.
        let again = acquired_in_the_end(&leases, "silent").await;
        assert!(again.token() > lost.token);
        assert!(again.release().await.is_released());
    }
}

fn signal(process: Pid, signal: Signal) {
    kill_process(process, signal).expect("it is our child");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_outlives_connections_that_are_cut() {
    let server = started().await;
    let proxy = Proxy::before(server.port()).await;
    let leases = leases(store(proxy.port()), Duration::from_secs(3));
    let lease = leases.acquire("cut").await.expect("it is free");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(7) {
        proxy.cut_all();
        tokio::time::sleep(Duration::from_millis(2100)).await;
        lease.check().expect("one failure in a row is forgiven");
    }
    assert!(lease.release().await.is_released());
}

/// One task and a few connections for all of them, and no renewal comes late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_leases_are_renewed_over_a_few_connections() {
    let server = started().await;
    let proxy = Proxy::before(server.port()).await;
    let ttl = Duration::from_secs(20);
    let leases = Leases::builder(store(proxy.port()))
        .ttl(ttl)
        // Acquiring writes to etcd's disk twice for each of them.
        .attempt_timeout(Duration::from_secs(4))
        .build()
        .expect("the settings are right");
    let mut held = Vec::new();
    // A burst of all at once would be about the disk.
    for part in 0..40 {
        let keys: Vec<String> = (0..25).map(|number| format!("lease {part} {number}")).collect();
        let acquired = keys.iter().map(|key| acquired_in_the_end(&leases, key));
        held.extend(futures_util::future::join_all(acquired).await);
    }
    tokio::time::sleep(ttl).await;
    for lease in &held {
        lease.check().expect("it is renewed");
    }
    // A connection that has just been used may be replaced before it is known to be free again.
    assert!(proxy.most_connections() <= 32, "{} connections", proxy.most_connections());
    let began = Instant::now();
    let released = futures_util::future::join_all(held.into_iter().map(leasehold::Lease::release)).await;
    assert!(released.iter().all(ReleaseOutcome::is_released), "after {:?}", began.elapsed());
}

/// Of three servers any one may go; which one is asked is not the caller's concern.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_outlives_the_loss_of_any_one_of_three_servers() {
    let mut cluster = tokio::task::spawn_blocking(|| servers::etcd_cluster(3)).await.expect("they start");
    let address: Vec<String> = cluster.iter().map(servers::etcd_address).collect();
    let store = EtcdStore::new(&address.join(",")).expect("the address is right");
    answers(&store).await;
    let leases = leases(store, Duration::from_secs(12));
    let lease = leases.acquire("survivor").await.expect("it is free");
    let mut last = lease.token();
    // One is frozen and one is killed; the others have the majority both times.
    for (fallen, freeze) in [(0, true), (1, false)] {
        let process = i32::try_from(cluster[fallen].id()).ok().and_then(Pid::from_raw).expect("it runs");
        if freeze {
            signal(process, Signal::STOP)
        } else {
            cluster[fallen].crash()
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(13) {
            lease.check().expect("the others have taken its place");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let other = leases.acquire_within("other", Duration::from_secs(20)).await.expect("it is free");
        assert!(other.token() > last);
        last = other.token();
        assert!(other.release().await.is_released());
        if freeze {
            signal(process, Signal::CONT);
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
    assert!(lease.release().await.is_released());
}

#[tokio::test]
async fn it_says_what_is_wrong() {
    let server = started().await;
    let open = store(server.port());
    token(&open, &claim("early")).await;
    for (path, message) in [
        ("/v3/auth/user/add", r#"{"name":"root","password":"pa:ss"}"#),
        ("/v3/auth/user/grant", r#"{"user":"root","role":"root"}"#),
        ("/v3/auth/user/add", r#"{"name":"reader","password":"x"}"#),
        ("/v3/auth/enable", "{}"),
    ] {
        let said = tell(&server, path, message).await;
        assert!(!said.contains("error"), "{path}: {said}");
    }
    let at = |user: &str| EtcdStore::new(&format!("http://{user}127.0.0.1:{}", server.port()));
    for (user, advice) in [
        ("", "user and password"),
        ("nobody:x@", "user and password"),
        ("root:wrong@", "user and password"),
        ("reader:x@", "role"),
    ] {
        let error = at(user).expect("the address is right").acquire(&claim("closed")).await;
        let error = error.expect_err("it may not");
        assert!(matches!(error, StoreError::Refused { .. }), "{user}: {error}");
        assert!(error.to_string().contains(advice), "{user}: {error}");
    }
    let user = at("root:pa%3Ass@").expect("the address is right");
    assert!(!format!("{user:?}").contains("ss@"));
    let held = claim("held");
    let first = token(&user, &held).await;
    // A change of the users makes every pass useless; a new one is asked for.
    let root =
        http::post(server.port(), "/v3/auth/authenticate", r#"{"name":"root","password":"pa:ss"}"#).await;
    let pass = root.split("\"token\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("it is root");
    http::post_as(server.port(), "/v3/auth/user/add", r#"{"name":"new","password":"x"}"#, pass).await;
    let mut watch = user.watch(&held.key).await.expect("it is up");
    assert!(matches!(user.renew(&held).await, Ok(Renewal::Renewed { .. })));
    assert_eq!(user.release(&held).await.expect("it is up"), Surrender::Released);
    tokio::time::timeout(Duration::from_secs(5), watch.hint()).await.expect("a hint comes");
    assert!(token(&user, &claim("held")).await > first);
}

#[tokio::test]
async fn addresses_that_lead_elsewhere_are_told() {
    for address in ["nonsense", "https://127.0.0.1:1", "http://127.0.0.1:1/v3", ""] {
        let error = EtcdStore::new(address).expect_err("it cannot be used");
        assert!(error.to_string().contains("write it as"), "{error}");
    }
    let nobody = store(servers::free_port());
    let error = nobody.acquire(&claim("nobody")).await.expect_err("it is down");
    assert!(error.is_retryable() && error.to_string().contains("check that it runs"), "{error}");
    // Servers of another kind, and what they may say.
    for (answer, advice) in [
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\nNot Found", "--enable-grpc-gateway"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]", "something else"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n<html></html>", "something else"),
        ("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", "tried again"),
        ("HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n", "something else"),
        ("-ERR unknown command\r\n", "cannot be reached"),
    ] {
        let store = store(http::always(answer).await);
        let error = store.renew(&claim("elsewhere")).await.expect_err("it is no etcd");
        assert!(error.to_string().contains(advice), "{answer}: {error}");
    }
    // An answer without end.
    let endless = store(http::endless().await);
    let error = tokio::time::timeout(Duration::from_secs(20), endless.release(&claim("endless"))).await;
    let error = error.expect("it is cut").expect_err("it is no etcd");
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
}
