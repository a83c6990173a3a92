//! Properties of leases over a store: that the core and the store keep their promises together.

use std::time::{Duration, Instant};

use futures_util::poll;
use leasehold::store::Claim;
use leasehold::{
    AcquireError, Election, LeaseStore, Leases, LossReason, OwnerValue, ReleaseOutcome, RunError,
};
use libtest_mimic::Trial;
use tokio::time::{sleep, timeout};

use super::{Bench, LONG, Subject, short, trial};

pub fn trials<S: Subject>(store: &str, subject: &S) -> Vec<Trial> {
    vec![
        trial(store, "a lease outlives its ttl while it is held", subject, outlives_its_ttl),
        trial(store, "a lost lease cancels the work in time", subject, loss_cancels),
        trial(store, "a dropped lease is freed", subject, drop_frees),
        trial(store, "a waiter gets what is released", subject, waiter_gets_it),
        trial(store, "a wait ends", subject, wait_ends),
        trial(store, "an abandoned acquire leaves nothing", subject, abandoned_acquire),
        trial(store, "nothing renews after a release", subject, nothing_renews_after_release),
        trial(store, "work runs alone", subject, work_runs_alone),
        trial(store, "closing cancels and frees everything", subject, closing_frees),
        trial(store, "a ttl beyond the store is refused", subject, ttl_is_checked),
        trial(store, "an election has one leader after the other", subject, election),
    ]
}

/// A TTL for leases that are renewed on a busy machine.
fn renewable(store: &impl LeaseStore) -> Duration {
    Duration::from_millis(900).max(short(store))
}

async fn leases<S: Subject>(bench: &Bench<S>) -> (Leases, Duration) {
    let store = bench.store().await;
    let ttl = renewable(&store);
    (Leases::builder(store).ttl(ttl).build().expect("the settings are right"), ttl)
}

async fn outlives_its_ttl<S: Subject>(bench: Bench<S>) {
    let (leases, ttl) = leases(&bench).await;
    let lease = leases.acquire(bench.key("key")).await.expect("it is free");
    let other = Leases::builder(bench.store().await).ttl(ttl).build().expect("the settings are right");
    let began = Instant::now();
    while began.elapsed() < ttl * 3 {
        lease.check().expect("it is renewed");
        let refused = other.try_acquire(bench.key("key")).await;
        assert!(matches!(refused, Err(AcquireError::Held { .. })), "{refused:?}");
        sleep(ttl / 10).await;
    }
    assert!(matches!(lease.release().await, ReleaseOutcome::Released));
    let _free = other.try_acquire(bench.key("key")).await.expect("it is free again");
}

async fn loss_cancels<S: Subject>(bench: Bench<S>) {
    let (leases, ttl) = leases(&bench).await;
    let stranger = bench.store().await;
    let lease = leases.acquire(bench.key("key")).await.expect("it is free");
    // Behind its back, as an operator would do it.
    let taken = Instant::now();
    end_grant(&bench, &stranger, &leases, &lease).await;
    let lost = timeout(LONG, lease.cancelled()).await.expect("the work is cancelled");
    assert_eq!(lost.reason, LossReason::NotMine);
    assert!(taken.elapsed() < ttl, "noticed only after {:?}", taken.elapsed());
    assert_eq!(lease.check().expect_err("it is lost").reason, LossReason::NotMine);
    let outcome = lease.release().await;
    assert!(
        matches!(&outcome, ReleaseOutcome::AlreadyLost(lost) if lost.reason == LossReason::NotMine),
        "{outcome:?}"
    );
}

/// Ends a grant in the store with the owner value of its holder.
async fn end_grant<S: Subject>(
    bench: &Bench<S>,
    stranger: &S::Store,
    leases: &Leases,
    lease: &leasehold::Lease,
) {
    let owner: OwnerValue = lease.owner();
    let claim = Claim { key: bench.key("key"), owner, ttl: leases.settings().ttl() };
    let ended = stranger.release(&claim).await.expect("the store answers");
    assert_eq!(ended, leasehold::store::Surrender::Released);
}

async fn drop_frees<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    let leases = Leases::builder(store).ttl(LONG).build().expect("the settings are right");
    let lease = leases.acquire(bench.key("key")).await.expect("it is free");
    let tenure = lease.tenure();
    drop(lease);
    assert_eq!(tenure.check().expect_err("it was given back").reason, LossReason::Released);
    let other = Leases::builder(bench.store().await).ttl(LONG).build().expect("the settings are right");
    let next = other.acquire_within(bench.key("key"), Duration::from_secs(10)).await.expect("it is freed");
    assert!(next.token() > tenure.token());
}

async fn waiter_gets_it<S: Subject>(bench: Bench<S>) {
    let holder = Leases::builder(bench.store().await).ttl(LONG).build().expect("the settings are right");
    let waiter = Leases::builder(bench.store().await)
        .ttl(LONG)
        // So long that only a hint can end the wait early.
        .retry_between(Duration::from_secs(20), Duration::from_secs(20))
        .build()
        .expect("the settings are right");
    let hints = waiter.capabilities().has_hints();
    let lease = holder.acquire(bench.key("key")).await.expect("it is free");
    let (key, began) = (bench.key("key"), Instant::now());
    let waiting = tokio::spawn(async move { waiter.acquire(key).await.map(|lease| (waiter, lease)) });
    sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished());
    assert!(lease.release().await.is_released());
    let (_waiter, next) = waiting.await.expect("no panic").expect("it was released");
    next.check().expect("it is held");
    if hints {
        assert!(began.elapsed() < Duration::from_secs(5), "a hint took {:?}", began.elapsed());
    }
}

async fn wait_ends<S: Subject>(bench: Bench<S>) {
    let (leases, _) = leases(&bench).await;
    let _held = leases.acquire(bench.key("key")).await.expect("it is free");
    let began = Instant::now();
    let ended = leases.acquire_within(bench.key("key"), Duration::from_millis(200)).await;
    assert!(matches!(ended, Err(AcquireError::WaitedTooLong { .. })), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// Drops the future of an acquire after its first poll, after its second, and so on.
async fn abandoned_acquire<S: Subject>(bench: Bench<S>) {
    let leases = Leases::builder(bench.store().await).ttl(LONG).build().expect("the settings are right");
    let other = Leases::builder(bench.store().await).ttl(LONG).build().expect("the settings are right");
    for polls in 1..6 {
        {
            let mut acquire = std::pin::pin!(leases.acquire(bench.key("key")));
            for _ in 0..polls {
                if poll!(acquire.as_mut()).is_ready() {
                    break;
                }
                sleep(Duration::from_micros(300)).await;
            }
        }
        let next = other.acquire_within(bench.key("key"), Duration::from_secs(10)).await;
        let next = next.unwrap_or_else(|error| panic!("after {polls} polls: {error}"));
        assert!(next.release().await.is_released());
    }
    leases.close(Duration::from_secs(10)).await.expect("nothing is left");
}

async fn nothing_renews_after_release<S: Subject>(bench: Bench<S>) {
    let store = bench.store().await;
    // Renewals as often as can be, so that many are under way when the release comes.
    let leases = Leases::builder(store)
        .ttl(LONG)
        .renew_every(Duration::from_millis(2))
        .attempt_timeout(Duration::from_secs(5))
        .build()
        .expect("the settings are right");
    for round in 0..40_u64 {
        let lease = leases.acquire(bench.key("key")).await.expect("it is free");
        sleep(Duration::from_micros(round * 150)).await;
        assert!(lease.release().await.is_released());
    }
    sleep(Duration::from_millis(100)).await;
    let _free = leases.try_acquire(bench.key("key")).await.expect("nothing has brought it back");
}

async fn work_runs_alone<S: Subject>(bench: Bench<S>) {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let inside = Arc::new(AtomicU32::new(0));
    let key = bench.key("key");
    let mut workers = Vec::new();
    for _ in 0..4 {
        let leases = Leases::builder(bench.store().await)
            .ttl(LONG)
            .retry_between(Duration::from_millis(2), Duration::from_millis(20))
            .build()
            .expect("the settings are right");
        let (key, inside) = (key.clone(), Arc::clone(&inside));
        workers.push(tokio::spawn(async move {
            let mut tokens = Vec::new();
            for _ in 0..5 {
                let inside = &inside;
                let token = leases.run(&key, |tenure| async move {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
                    sleep(Duration::from_millis(3)).await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    Ok::<_, std::convert::Infallible>(tenure.token())
                });
                tokens.push(token.await.expect("the work is done"));
            }
            tokens
        }));
    }
    let mut all = Vec::new();
    for worker in workers {
        let tokens = worker.await.expect("no panic");
        assert!(tokens.is_sorted());
        all.extend(tokens);
    }
    let before = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!((before, all.len()), (20, 20));
}

async fn closing_frees<S: Subject>(bench: Bench<S>) {
    let leases = Leases::builder(bench.store().await).ttl(LONG).build().expect("the settings are right");
    let worker = {
        let (leases, key) = (leases.clone(), bench.key("worked"));
        tokio::spawn(async move {
            leases.run(key, |_| std::future::pending::<Result<(), std::convert::Infallible>>()).await
        })
    };
    let held = leases.acquire(bench.key("held")).await.expect("it is free");
    let waiter = {
        let (leases, key) = (leases.clone(), bench.key("held"));
        tokio::spawn(async move { leases.acquire(key).await })
    };
    sleep(Duration::from_millis(200)).await;
    let early = leases.close(Duration::from_millis(1)).await;
    assert!(early.is_err(), "a lease is held");
    assert_eq!(held.cancelled().await.reason, LossReason::ShuttingDown);
    drop(held);
    leases.close(Duration::from_secs(10)).await.expect("everything was given back");
    assert!(matches!(worker.await.expect("no panic"), Err(RunError::Lost(_))));
    assert!(matches!(waiter.await.expect("no panic"), Err(AcquireError::ShuttingDown { .. })));
    assert!(matches!(leases.acquire(bench.key("new")).await, Err(AcquireError::ShuttingDown { .. })));
    let other = Leases::builder(bench.store().await).ttl(LONG).build().expect("the settings are right");
    for name in ["worked", "held"] {
        let _free = other.try_acquire(bench.key(name)).await.expect("it was freed");
    }
}

async fn ttl_is_checked<S: Subject>(bench: Bench<S>) {
    let most = bench.store().await.capabilities().max_ttl();
    for ttl in [Duration::ZERO, Duration::from_nanos(1), most + Duration::from_secs(1), Duration::MAX] {
        let refused = Leases::builder(bench.store().await).ttl(ttl).build();
        assert!(refused.is_err(), "{ttl:?}");
    }
    // The longest one works.
    let leases = Leases::builder(bench.store().await).ttl(most).build().expect("the store can keep it");
    let lease = leases.acquire(bench.key("long")).await.expect("the store can keep it");
    assert!(lease.release().await.is_released());
}

async fn election<S: Subject>(bench: Bench<S>) {
    let (first, _) = leases(&bench).await;
    let (second, _) = leases(&bench).await;
    let (first, second) = (
        Election::new(&first, bench.key("key")).expect("the key is right"),
        Election::new(&second, bench.key("key")).expect("the key is right"),
    );
    let mut seen = second.observe();
    assert_eq!(seen.changed().await.expect("the store answers"), None);
    let leader = first.campaign().await.expect("nobody leads");
    assert_eq!(seen.changed().await.expect("the store answers"), Some(leader.owner()));
    let (candidate, owner, token) = (second.clone(), leader.owner(), leader.token());
    let campaign = tokio::spawn(async move { candidate.campaign().await });
    sleep(Duration::from_millis(100)).await;
    assert!(!campaign.is_finished());
    assert!(leader.resign().await.is_released());
    let next = timeout(LONG, campaign).await.expect("it wins").expect("no panic").expect("nobody leads");
    assert!(next.token() > token && next.owner() != owner);
    loop {
        // That nobody led in between may have been seen, or not.
        if seen.changed().await.expect("the store answers") == Some(next.owner()) {
            break;
        }
    }
    assert!(next.resign().await.is_released());
}
