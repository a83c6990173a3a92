//! Redlock on five real servers: what it does while a minority or a majority is away, frozen, slow or empty, that
//! tokens grow across all majorities, and that nothing of a failed round stays.

mod support;

use std::time::{Duration, Instant};

use leasehold::store::redlock::RedlockStore;
use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{FencingToken, LeaseKey, LeaseStore, Leases, LossReason, OwnerValue, StoreError};
use redis::FromRedisValue;
use rustix::process::{Pid, Signal, kill_process};
use support::proxy::Proxy;
use support::servers::{self, Server};
use tokio::task::block_in_place;
use tokio::time::sleep;

const COUNTER: &str = "leasehold:redlock:token";

struct Five {
    servers: Vec<Server>,
    proxies: Vec<Proxy>,
    longest_ttl: Duration,
}

impl Five {
    async fn new() -> Self {
        Self::with_ttl_up_to(Duration::from_secs(60)).await
    }

    async fn with_ttl_up_to(longest_ttl: Duration) -> Self {
        let five = Self::without_counters(longest_ttl).await;
        five.store().create_counters(None).await.expect("the servers are ours");
        five
    }

    async fn without_counters(longest_ttl: Duration) -> Self {
        let servers = block_in_place(servers::five_redis);
        let mut proxies = Vec::new();
        for server in &servers {
            proxies.push(Proxy::before(server.port()).await);
        }
        Self { servers, proxies, longest_ttl }
    }

    /// A store that goes to the servers themselves.
    fn store(&self) -> RedlockStore {
        self.at(self.servers.iter().map(Server::port))
    }

    /// A store that goes through the proxies.
    fn behind(&self) -> RedlockStore {
        self.at(self.proxies.iter().map(Proxy::port))
    }

    fn at(&self, ports: impl Iterator<Item = u16>) -> RedlockStore {
        let addresses = ports.map(|port| format!("redis://127.0.0.1:{port}/"));
        let store = RedlockStore::in_namespace(addresses, "leasehold", self.longest_ttl);
        store.expect("the addresses are right")
    }

    async fn tell<T: FromRedisValue>(&self, server: usize, words: &[&str]) -> T {
        let address = servers::redis_address(&self.servers[server]);
        let client = redis::Client::open(address).expect("the address is right");
        let mut connection = client.get_multiplexed_async_connection().await.expect("it is up");
        redis::cmd(words[0]).arg(&words[1..]).query_async(&mut connection).await.expect("it obeys")
    }

    async fn counter(&self, server: usize) -> Option<i64> {
        self.tell(server, &["GET", COUNTER]).await
    }

    fn signal(&self, server: usize, signal: Signal) {
        let process = i32::try_from(self.servers[server].id()).ok().and_then(Pid::from_raw);
        kill_process(process.expect("it runs"), signal).expect("it is our child");
    }

    /// Ends a server, and starts it again without what it knew.
    fn empty(&mut self, server: usize) {
        block_in_place(|| {
            self.servers[server].crash();
            self.servers[server].restart();
        });
    }
}

fn claim_for(key: &str, ttl: Duration) -> Claim {
    let owner = OwnerValue::fresh().expect("there is randomness");
    Claim { key: LeaseKey::new(key).expect("it is short"), owner, ttl }
}

fn claim(key: &str) -> Claim {
    claim_for(key, Duration::from_secs(60))
}

async fn token(store: &RedlockStore, claim: &Claim) -> FencingToken {
    match store.acquire(claim).await.expect("a majority answers") {
        Acquisition::Granted(grant) => grant.token,
        Acquisition::Held { ends_within } => panic!("{claim:?} is held, until {ends_within:?}"),
    }
}

/// Takes the key as soon as it can be had, and gives it back.
async fn pass(store: &RedlockStore, key: &str, ttl: Duration) -> FencingToken {
    let began = Instant::now();
    loop {
        let claim = claim_for(key, ttl);
        match store.acquire(&claim).await {
            Ok(Acquisition::Granted(grant)) => {
                let _freed = store.release(&claim).await;
                return grant.token;
            }
            other => assert!(began.elapsed() < Duration::from_secs(20), "{other:?}"),
        }
        sleep(Duration::from_millis(20)).await;
    }
}

async fn until<F: Future<Output = bool>>(what: &str, most: Duration, is_so: impl Fn() -> F) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < most, "after {most:?} it is not so: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_server_is_asked_once_while_their_counters_are_alike() {
    let five = Five::new().await;
    let store = five.behind();
    let counts = async || {
        sleep(Duration::from_millis(200)).await;
        five.proxies.iter().map(Proxy::requests).collect::<Vec<_>>()
    };
    let round = async || {
        let claim = claim("counted");
        let given = token(&store, &claim).await;
        let acquire = counts().await;
        assert!(matches!(store.renew(&claim).await, Ok(Renewal::Renewed { .. })));
        let renew = counts().await;
        assert_eq!(store.release(&claim).await.expect("all are up"), Surrender::Released);
        (given, [acquire, renew, counts().await])
    };
    // The first time, scripts are sent by their text.
    round().await;
    assert_eq!(round().await.1, [[1; 5]; 3]);
    // A part is ahead, of which every majority has one: the others are told, once. And no digit is lost on the way.
    let far = 9_007_199_254_740_993_i64;
    for ahead in 0..3 {
        let () = five.tell(ahead, &["SET", COUNTER, &far.to_string()]).await;
    }
    // Those that the majority was had without hear of it in another round.
    let mut told = 0;
    for number in 1.. {
        let (given, requests) = round().await;
        assert_eq!(given.as_i64(), far + number);
        told += requests[0][3..].iter().sum::<usize>() - 2;
        if requests == [[1; 5]; 3] {
            break;
        }
        assert!(number < 10, "{requests:?}");
    }
    assert!(told >= 2, "{told}");
}

/// Any three servers are a majority, whatever happened to the others before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_grow_across_all_majorities() {
    let five = Five::new().await;
    let store = five.store();
    let mut last = None;
    for round in 0..40_u32 {
        // Each pair in turn; their requests wait in the kernel, and are obeyed when nobody expects it any more.
        let (first, second) = ((round % 5) as usize, ((round + 1 + round / 5 % 4) % 5) as usize);
        five.signal(first, Signal::STOP);
        five.signal(second, Signal::STOP);
        let given = pass(&store, "majorities", Duration::from_millis(600)).await;
        assert!(last < Some(given), "round {round}: {given} after {last:?}");
        last = Some(given);
        five.signal(first, Signal::CONT);
        five.signal(second, Signal::CONT);
    }
    // Nothing stays, not even of requests that came late.
    for server in 0..5 {
        until("all leases are gone", Duration::from_secs(5), async || {
            five.tell::<Vec<String>>(server, &["KEYS", "*"]).await == [COUNTER]
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_minority_that_is_down_or_slow_costs_nothing() {
    let mut five = Five::new().await;
    let store = five.behind();
    let leases = Leases::builder(five.behind()).ttl(Duration::from_millis(1500)).build();
    let leases = leases.expect("the settings are right");
    let lease = leases.acquire("held").await.expect("it is free");
    pass(&store, "warm", Duration::from_secs(60)).await;
    for proxy in &five.proxies[..2] {
        proxy.delay(Duration::from_millis(800));
    }
    let began = Instant::now();
    for _ in 0..5 {
        pass(&store, "slow", Duration::from_secs(60)).await;
    }
    // Five acquires and releases; one that waited for a slow server would take longer than all of them.
    assert!(began.elapsed() < Duration::from_millis(800), "{:?}", began.elapsed());
    sleep(Duration::from_secs(3)).await;
    lease.check().expect("a majority renews it");
    block_in_place(|| five.servers[..2].iter_mut().for_each(Server::crash));
    sleep(Duration::from_secs(3)).await;
    lease.check().expect("a majority renews it");
    let began = Instant::now();
    let before = pass(&store, "down", Duration::from_secs(60)).await;
    assert!(pass(&store, "down", Duration::from_secs(60)).await > before);
    assert!(began.elapsed() < Duration::from_millis(800), "{:?}", began.elapsed());
    assert!(lease.release().await.is_released());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nothing_is_granted_and_the_work_is_cancelled_in_time() {
    let mut five = Five::new().await;
    let store = five.store();
    let ttl = Duration::from_millis(1200);
    let leases = Leases::builder(store.clone()).ttl(ttl).build().expect("the settings are right");
    let lease = leases.acquire("lost").await.expect("it is free");
    for server in 0..3 {
        five.signal(server, Signal::STOP);
    }
    let began = Instant::now();
    let lost = lease.cancelled().await;
    assert!(began.elapsed() < ttl, "only after {:?}", began.elapsed());
    assert!(
        matches!(lost.reason, LossReason::RenewalsFailed { failures: 2 } | LossReason::Deadline),
        "{lost}"
    );
    let error = store.acquire(&claim("frozen")).await.expect_err("three are frozen");
    assert!(error.is_retryable() && error.to_string().contains("no majority of 5 servers"), "{error}");
    for server in 0..3 {
        five.signal(server, Signal::CONT);
    }
    let again = leases.acquire_within("lost", Duration::from_secs(10)).await.expect("they are back");
    assert!(again.token() > lost.token);
    assert!(again.release().await.is_released());
    let last = pass(&store, "frozen", ttl).await;

    // Gone for good, with all that they knew.
    (0..3).for_each(|server| five.empty(server));
    // The first requests find out that the old connections are closed.
    let error = loop {
        let error = store.acquire(&claim("empty")).await.expect_err("three are empty");
        if !error.is_retryable() {
            break error;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{error}");
    };
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("create_counters"), "{error}");
    store.create_counters(Some(last)).await.expect("all are up");
    let next = pass(&store, "empty", ttl).await;
    assert!(next > last, "{next} after {last}");
    // Again it is only a question of some being there.
    store.create_counters(None).await.expect("all are up");
    assert!(pass(&store, "empty", ttl).await > next);
}

/// The known weakness of Redlock: of three servers that granted a lease one forgets it, and with the two that never
/// knew of it there is another majority.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_forgotten_grants_nothing_until_it_is_safe() {
    let longest = Duration::from_secs(3);
    let mut five = Five::with_ttl_up_to(longest).await;
    let (first, second) = (five.behind(), five.store());
    for server in 0..5 {
        let () = five.tell(server, &["SET", COUNTER, "40"]).await;
    }
    for proxy in &five.proxies[3..] {
        proxy.swallow(true);
    }
    let held = claim_for("forgotten", longest);
    let granted = Instant::now();
    let before = token(&first, &held).await;
    five.empty(2);
    while granted.elapsed() < longest - Duration::from_millis(300) {
        let answer = second.acquire(&claim_for("forgotten", longest)).await;
        assert!(matches!(answer, Ok(Acquisition::Held { .. })), "{answer:?}");
        assert_eq!(five.counter(2).await, None, "it votes too early");
        sleep(Duration::from_millis(50)).await;
    }
    // Its grant ends where it was; and the server that has forgotten goes on where the others are.
    let after = pass(&second, "forgotten", longest).await;
    assert!(after > before, "{after} after {before}");
    until("it has a counter again", Duration::from_secs(10), async || {
        pass(&second, "other", longest).await;
        five.counter(2).await.is_some()
    })
    .await;
    let counter = five.counter(2).await;
    assert!(counter >= Some(before.as_i64()), "{counter:?} after {before}");
    // It is needed now.
    let last = pass(&second, "other", longest).await;
    block_in_place(|| five.servers[..2].iter_mut().for_each(Server::crash));
    assert!(pass(&second, "other", longest).await > last);
}

/// A failed round leaves nothing, also where the answer was lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_acquire_frees_every_server() {
    let five = Five::new().await;
    let store = five.behind();
    pass(&store, "warm", Duration::from_secs(60)).await;
    let name = "leasehold:redlock:lease:contended";
    let stranger = OwnerValue::fresh().expect("there is randomness").to_hex();
    for server in 0..3 {
        let () = five.tell(server, &["SET", name, &stranger, "PX", "60000"]).await;
    }
    five.proxies[4].swallow_answers(true);
    let claim = claim_for("contended", Duration::from_secs(10));
    let answer = store.acquire(&claim).await.expect("it is held");
    let Acquisition::Held { ends_within: Some(left) } = answer else { panic!("{answer:?}") };
    assert!(left <= Duration::from_secs(60) && left > Duration::from_secs(50), "{left:?}");
    for server in 3..5 {
        until("the round's grants are gone", Duration::from_secs(5), async || {
            five.tell::<i64>(server, &["EXISTS", name]).await == 0
        })
        .await;
    }
    for server in 0..3 {
        assert_eq!(five.tell::<String>(server, &["GET", name]).await, stranger);
    }
}

/// Connecting takes a round trip before the first request, and both together are longer than a server has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_are_far_away_are_reached_in_the_end() {
    let five = Five::new().await;
    let store = five.behind();
    for proxy in &five.proxies {
        proxy.delay(Duration::from_millis(17));
    }
    let began = Instant::now();
    loop {
        let far = claim_for("far", Duration::from_secs(1));
        assert!(began.elapsed() < Duration::from_secs(20), "each attempt begins from the start");
        if matches!(store.acquire(&far).await, Ok(Acquisition::Granted(_))) {
            assert_eq!(store.release(&far).await.expect("they are near enough"), Surrender::Released);
            return;
        }
        // Some servers may have granted it.
        let _freed = store.release(&far).await;
    }
}

/// Two of five were somebody's who has died; the others are enough, and his parts end by themselves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_owner_left_on_a_minority_stops_nobody() {
    let five = Five::new().await;
    let dead = OwnerValue::fresh().expect("there is randomness").to_hex();
    for server in 1..3 {
        let () = five.tell(server, &["SET", "leasehold:redlock:lease:left", &dead, "PX", "60000"]).await;
    }
    let store = five.store();
    let claim = claim("left");
    let given = token(&store, &claim).await;
    assert_eq!(store.holder(&claim.key).await.expect("all are up"), Some(claim.owner));
    assert!(matches!(store.renew(&claim).await, Ok(Renewal::Renewed { .. })));
    assert_eq!(store.release(&claim).await.expect("all are up"), Surrender::Released);
    assert!(token(&store, &self::claim("left")).await > given);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_what_is_wrong() {
    let five = Five::without_counters(Duration::from_secs(60)).await;
    let store = five.store();
    let error = store.acquire(&claim("early")).await.expect_err("there are no counters");
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("create_counters"), "{error}");
    five.proxies[4].swallow(true);
    let error = five.behind().create_counters(None).await.expect_err("one does not answer");
    assert!(error.is_retryable(), "{error}");
    store.create_counters(None).await.expect("all are up");
    for server in 0..5 {
        let () = five.tell(server, &["SET", COUNTER, &i64::MAX.to_string()]).await;
    }
    let full = claim("full");
    let error = store.acquire(&full).await.expect_err("there is no higher token");
    assert!(matches!(error, StoreError::TokensExhausted { .. }), "{error}");
    assert_eq!(store.holder(&full.key).await.expect("all are up"), None);
    for server in 0..3 {
        let () = five.tell(server, &["CONFIG", "SET", "requirepass", "secret"]).await;
    }
    let error = five.store().renew(&full).await.expect_err("there is a password now");
    assert!(matches!(error, StoreError::Refused { .. }) && error.to_string().contains("password"), "{error}");

    let named =
        |ports: &[u16]| RedlockStore::new(ports.iter().map(|port| format!("redis://127.0.0.1:{port}/")));
    for (ports, advice) in [(&[1, 2][..], "takes three"), (&[1, 2, 1], "name each once")] {
        let error = named(ports).expect_err("they cannot be used");
        assert!(error.to_string().contains(advice), "{error}");
    }
    let error = RedlockStore::new(["nonsense"]).expect_err("it is no address");
    assert!(error.to_string().contains("write each as"), "{error}");
    let nobody = named(&[servers::free_port(), servers::free_port(), servers::free_port()]);
    let error = nobody.expect("the addresses are right").acquire(&claim("nobody")).await;
    let error = error.expect_err("all are down");
    assert!(error.is_retryable() && error.to_string().contains("check that it runs"), "{error}");
}
