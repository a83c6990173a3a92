//! Properties of a store's own operations.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{FencingToken, LeaseStore, OwnerValue};
use libtest_mimic::Trial;
use tokio::time::{sleep, timeout};

use super::{Bench, LONG, Subject, short, trial};

pub fn trials<S: Subject>(store: &str, subject: &S) -> Vec<Trial> {
    vec![
        trial(store, "a held key is refused", subject, held_is_refused),
        trial(store, "tokens grow after release", subject, tokens_grow_after_release),
        trial(store, "tokens grow after expiry", subject, tokens_grow_after_expiry),
        trial(store, "a grant lasts its ttl and not much longer", subject, lasts_its_ttl),
        trial(store, "a renewed grant outlives its ttl", subject, renewal_extends),
        trial(store, "nobody renews what is not theirs", subject, only_the_owner_renews),
        trial(store, "a renewal brings nothing back", subject, renewal_brings_nothing_back),
        trial(store, "nobody releases what is not theirs", subject, only_the_owner_releases),
        trial(store, "a release works once", subject, released_once),
        trial(store, "keys are independent", subject, keys_are_independent),
        trial(store, "of many one wins", subject, of_many_one_wins),
        trial(store, "grants follow each other in token order", subject, grants_follow_in_token_order),
        trial(store, "a release wakes a waiter", subject, release_wakes),
        trial(store, "a reset loses no grant", subject, reset_loses_nothing),
        trial(store, "onlookers see the holder", subject, onlookers_see_the_holder),
    ]
}

async fn granted(store: &impl LeaseStore, claim: &Claim) -> FencingToken {
    match store.acquire(claim).await.expect("the store answers") {
        Acquisition::Granted(grant) => {
            assert!(
                grant.ttl >= claim.ttl,
                "the store keeps it for {:?}, asked for {:?}",
                grant.ttl,
                claim.ttl
            );
            grant.token
        }
        Acquisition::Held { ends_within } => panic!("{claim:?} is held, until {ends_within:?}"),
    }
}

/// `None` when it was granted after all.
async fn held(store: &impl LeaseStore, claim: &Claim) -> Option<Option<Duration>> {
    match store.acquire(claim).await.expect("the store answers") {
        Acquisition::Granted(_) => None,
        Acquisition::Held { ends_within } => Some(ends_within),
    }
}

async fn renew(store: &impl LeaseStore, claim: &Claim) -> Renewal {
    store.renew(claim).await.expect("the store answers")
}

async fn release(store: &impl LeaseStore, claim: &Claim) -> Surrender {
    store.release(claim).await.expect("the store answers")
}

/// Until every grant of this TTL has ended in the store.
async fn outlast(store: &impl LeaseStore, ttl: Duration) {
    sleep(ttl + store.capabilities().late_expiry(ttl) + Duration::from_millis(50)).await;
}

async fn held_is_refused<S: Subject>(bench: Bench<S>) {
    let (first, second) = (bench.store().await, bench.store().await);
    granted(&first, &bench.claim("key", LONG)).await;
    for store in [&first, &second] {
        let ends_within = held(store, &bench.claim("key", LONG)).await.expect("it is held");
        if let Some(left) = ends_within {
            assert!(left <= LONG && left > LONG / 2, "{left:?} of {LONG:?} are left");
        }
    }
}

async fn tokens_grow_after_release<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let mut before = None;
    for _ in 0..10 {
        let claim = bench.claim("key", LONG);
        let token = granted(&store, &claim).await;
        assert!(before < Some(token), "{token} after {before:?}");
        before = Some(token);
        assert_eq!(release(&store, &claim).await, Surrender::Released);
    }
}

async fn tokens_grow_after_expiry<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let ttl = short(&store);
    let first = granted(&store, &bench.claim("key", ttl)).await;
    outlast(&store, ttl).await;
    let second = granted(&store, &bench.claim("key", ttl)).await;
    assert!(first < second, "{second} after {first}");
}

async fn lasts_its_ttl<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let ttl = short(&store);
    let most = ttl + store.capabilities().late_expiry(ttl);
    granted(&store, &bench.claim("key", ttl)).await;
    let answered = Instant::now();
    let taken = loop {
        // The store may have begun to count when the first answer came, but not after it.
        let asked = Instant::now();
        if held(&store, &bench.claim("key", LONG)).await.is_none() {
            break asked;
        }
        let since = asked - answered;
        assert!(since < most + Duration::from_secs(2), "a grant of {ttl:?} still lasts after {since:?}");
        sleep(Duration::from_millis(5)).await;
    };
    // On the way to `answered` some of the TTL has passed; how much a busy machine decides.
    let lasted = taken - answered;
    assert!(lasted + Duration::from_millis(200) > ttl, "a grant of {ttl:?} lasted {lasted:?}");
}

async fn renewal_extends<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let ttl = short(&store);
    let claim = bench.claim("key", ttl);
    granted(&store, &claim).await;
    for _ in 0..6 {
        sleep(ttl / 3).await;
        assert!(matches!(renew(&store, &claim).await, Renewal::Renewed { ttl: kept } if kept >= ttl));
    }
    assert!(held(&store, &bench.claim("key", LONG)).await.is_some());
    assert_eq!(release(&store, &claim).await, Surrender::Released);
}

async fn only_the_owner_renews<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let ttl = short(&store);
    granted(&store, &bench.claim("key", ttl)).await;
    assert_eq!(renew(&store, &bench.claim("key", LONG)).await, Renewal::NotMine);
    assert_eq!(renew(&store, &bench.claim("free", LONG)).await, Renewal::NotMine);
    outlast(&store, ttl).await;
    granted(&store, &bench.claim("key", ttl)).await;
    granted(&store, &bench.claim("free", ttl)).await;
}

async fn renewal_brings_nothing_back<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let ttl = short(&store);
    let (expired, freed) = (bench.claim("expired", ttl), bench.claim("freed", LONG));
    granted(&store, &expired).await;
    granted(&store, &freed).await;
    assert_eq!(release(&store, &freed).await, Surrender::Released);
    outlast(&store, ttl).await;
    assert_eq!(renew(&store, &expired).await, Renewal::NotMine);
    assert_eq!(renew(&store, &freed).await, Renewal::NotMine);
    for name in ["expired", "freed"] {
        granted(&store, &bench.claim(name, LONG)).await;
    }
    // And not when somebody else has it by now, either.
    assert_eq!(renew(&store, &expired).await, Renewal::NotMine);
}

async fn only_the_owner_releases<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let ttl = short(&store);
    let late = bench.claim("key", ttl);
    granted(&store, &late).await;
    assert_eq!(release(&store, &bench.claim("key", LONG)).await, Surrender::NotMine);
    assert!(held(&store, &bench.claim("key", LONG)).await.is_some(), "a stranger's release freed it");
    outlast(&store, ttl).await;
    let successor = bench.claim("key", LONG);
    granted(&store, &successor).await;
    assert_eq!(release(&store, &late).await, Surrender::NotMine);
    assert!(held(&store, &bench.claim("key", LONG)).await.is_some(), "a late release freed the successor's");
    assert_eq!(release(&store, &successor).await, Surrender::Released);
}

async fn released_once<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let claim = bench.claim("key", LONG);
    assert_eq!(release(&store, &claim).await, Surrender::NotMine);
    granted(&store, &claim).await;
    assert_eq!(release(&store, &claim).await, Surrender::Released);
    assert_eq!(release(&store, &claim).await, Surrender::NotMine);
}

async fn keys_are_independent<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let mut most = bench.key("").as_str().to_owned();
    most.push_str(&"m".repeat(leasehold::MOST_KEY_BYTES - most.len()));
    let odd =
        ["a", "A", "a ", "{a}{b}", "ü/😀", "a:b", "a%_*?[x]", "'; --", "\"\\", "\t\n", "{}", "..", "a/../b"];
    let mut keys: Vec<_> = odd.iter().map(|name| bench.key(name)).collect();
    keys.push(leasehold::LeaseKey::new(most).expect("it has as many bytes as a key may have"));
    let mut claims = Vec::new();
    for key in keys {
        let claim = Claim { key, owner: OwnerValue::fresh().expect("there is randomness"), ttl: LONG };
        granted(&store, &claim).await;
        claims.push(claim);
    }
    for claim in &claims {
        assert!(matches!(renew(&store, claim).await, Renewal::Renewed { .. }), "{claim:?}");
        assert_eq!(release(&store, claim).await, Surrender::Released, "{claim:?}");
    }
}

async fn of_many_one_wins<S: Subject>(bench: Bench<S>) {
    let stores = [bench.store().await, bench.store().await, bench.store().await];
    for round in 0..5 {
        let name = format!("round-{round}");
        let claims: Vec<Claim> = (0..24).map(|_| bench.claim(&name, LONG)).collect();
        let asked = claims.iter().zip(stores.iter().cycle()).map(|(claim, store)| store.acquire(claim));
        let answers = futures_util::future::join_all(asked).await;
        let won = answers
            .iter()
            .filter(|answer| matches!(answer.as_ref().expect("the store answers"), Acquisition::Granted(_)));
        assert_eq!(won.count(), 1, "{answers:?}");
    }
}

async fn grants_follow_in_token_order<S: Subject>(bench: Bench<S>) {
    let stores = [bench.store().await, bench.store().await, bench.store().await];
    let began = Instant::now();
    // One list, in the order in which the grants came: who appends holds the lease.
    let tokens = tokio::sync::Mutex::new(Vec::new());
    let work = |worker: usize| {
        let (bench, store, tokens) = (&bench, &stores[worker % 3], &tokens);
        async move {
            let mut done = 0;
            while done < 5 {
                let claim = bench.claim("key", LONG);
                if let Acquisition::Granted(grant) = store.acquire(&claim).await.expect("the store answers") {
                    tokens.lock().await.push(grant.token);
                    assert_eq!(release(store, &claim).await, Surrender::Released);
                    done += 1;
                }
                assert!(began.elapsed() < Duration::from_secs(60), "waiters starve");
                sleep(Duration::from_millis(1)).await;
            }
        }
    };
    futures_util::future::join_all((0..6).map(work)).await;
    let tokens = tokens.into_inner();
    assert_eq!(tokens.len(), 30);
    assert!(tokens.is_sorted(), "{tokens:?}");
    assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), 30, "{tokens:?}");
}

async fn release_wakes<S: Subject>(bench: Bench<S>) {
    let (holder, waiter) = (bench.store().await, bench.store().await);
    let claim = bench.claim("key", LONG);
    granted(&holder, &claim).await;
    let mut watch = waiter.watch(&claim.key).await.expect("the store answers");
    let early = timeout(Duration::from_millis(50), watch.hint()).await;
    assert!(early.is_err(), "a hint before the release");
    assert_eq!(release(&holder, &claim).await, Surrender::Released);
    let woken = timeout(Duration::from_secs(5), watch.hint());
    if waiter.capabilities().has_hints() {
        woken.await.expect("a hint comes with the release");
    }
}

async fn reset_loses_nothing<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let claim = bench.claim("key", LONG);
    let token = granted(&store, &claim).await;
    store.reset();
    assert!(matches!(renew(&store, &claim).await, Renewal::Renewed { .. }));
    store.reset();
    assert_eq!(release(&store, &claim).await, Surrender::Released);
    assert!(granted(&store, &bench.claim("key", LONG)).await > token);
}

async fn onlookers_see_the_holder<S: Subject>(bench: Bench<S>) {
    let (store, onlooker) = (bench.store().await, bench.store().await);
    let ttl = short(&store);
    let (first, second) = (bench.claim("key", LONG), bench.claim("key", ttl));
    let holder = async || onlooker.holder(&bench.key("key")).await.expect("the store answers");
    assert_eq!(holder().await, None);
    granted(&store, &first).await;
    assert_eq!(holder().await, Some(first.owner));
    assert_eq!(release(&store, &first).await, Surrender::Released);
    assert_eq!(holder().await, None);
    granted(&store, &second).await;
    assert_eq!(holder().await, Some(second.owner));
    outlast(&store, ttl).await;
    assert_eq!(holder().await, None);
}
