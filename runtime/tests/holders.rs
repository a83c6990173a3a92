//! What holders can rely on when their own process misbehaves: runtimes that end or are blocked, clocks that jump,
//! futures and leases that are dropped anywhere.

use std::time::{Duration, Instant};

use leasehold::clock::{ManualClock, Moment};
use leasehold::store::memory::MemoryStore;
use leasehold::{BuildError, LeaseKey, LeaseStore, Leases, LossReason, RunError};
use tokio::runtime::{Builder, Runtime};

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().expect("a runtime starts")
}

fn leases(store: &MemoryStore, ttl: Duration) -> Leases {
    Leases::builder(store.clone()).ttl(ttl).build().expect("the settings are right")
}

async fn is_free(store: &MemoryStore, key: &str) -> bool {
    let key = LeaseKey::new(key).expect("it is short");
    store.holder(&key).await.expect("it answers").is_none()
}

async fn becomes_free(store: &MemoryStore, key: &str) {
    let began = Instant::now();
    while !is_free(store, key).await {
        assert!(began.elapsed() < Duration::from_secs(10), "`{key}` is still held");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[test]
fn leases_can_be_dropped_anywhere() {
    let (store, ttl) = (MemoryStore::new(), Duration::from_secs(60));
    let first = runtime(2);
    let leases = first.block_on(async { leases(&store, ttl) });
    let take = |key: &'static str| first.block_on(leases.acquire(key)).expect("it is free");
    // Outside of any runtime.
    drop(take("outside"));
    first.block_on(becomes_free(&store, "outside"));
    // While a panic unwinds.
    let lease = take("panic");
    let panicked = std::thread::spawn(move || {
        let _lease = lease;
        panic!("on purpose");
    });
    assert!(panicked.join().is_err());
    first.block_on(becomes_free(&store, "panic"));
    // On another runtime.
    let lease = take("elsewhere");
    runtime(1).block_on(async move { drop(lease) });
    first.block_on(becomes_free(&store, "elsewhere"));
    // After the end of its own: only the TTL can free it, and nothing panics or blocks.
    let (late, released) = (take("late"), take("released"));
    drop(first);
    let began = Instant::now();
    drop(late);
    let outcome = runtime(1).block_on(released.release());
    assert!(!outcome.is_released(), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(1));
    assert!(!runtime(1).block_on(is_free(&store, "late")));
}

#[tokio::test]
async fn a_release_goes_on_when_it_is_dropped() {
    let store = MemoryStore::new();
    let leases = leases(&store, Duration::from_secs(60));
    let lease = leases.acquire("key").await.expect("it is free");
    {
        let mut release = std::pin::pin!(lease.release());
        assert!(futures_util::poll!(release.as_mut()).is_pending());
    }
    becomes_free(&store, "key").await;
}

#[test]
fn without_a_runtime_there_are_no_leases() {
    assert_eq!(Leases::builder(MemoryStore::new()).build().err(), Some(BuildError::NoRuntime));
}

/// As after the machine has slept: no timer has fired yet, and the holder knows all the same.
#[tokio::test]
async fn a_clock_that_has_jumped_is_noticed_without_a_timer() {
    let clock = ManualClock::starting_at(Moment::from_nanoseconds(1));
    let leases = Leases::builder(MemoryStore::with_clock(clock.clone()))
        .clock(clock.clone())
        .ttl(Duration::from_secs(600))
        .build()
        .expect("the settings are right");
    let lease = leases.acquire("key").await.expect("it is free");
    let left = lease.check().expect("it is held");
    assert!(left > Duration::from_secs(500) && left < Duration::from_secs(600));
    clock.advance(left - Duration::from_nanos(1));
    lease.check().expect("it is held to the last moment");
    clock.advance(Duration::from_nanos(1));
    assert_eq!(lease.check().expect_err("its time is over").reason, LossReason::Deadline);
    assert!(lease.cancellation().is_cancelled());
    assert!(matches!(lease.run(async {}).await, Err(lost) if lost.reason == LossReason::Deadline));
}

/// Work that computes on every thread of the runtime leaves no time for renewals; the lease is then lost at its
/// deadline and not a moment later, by the holder's own account.
#[test]
fn a_blocked_runtime_never_believes_in_a_lease_that_has_ended() {
    let (store, ttl) = (MemoryStore::new(), Duration::from_millis(300));
    runtime(1).block_on(async {
        let leases = leases(&store, ttl);
        let key = "key".to_owned();
        let worker = tokio::spawn(async move {
            leases
                .run(key, |tenure| async move {
                    let began = Instant::now();
                    while began.elapsed() < ttl * 3 {
                        if began.elapsed() > ttl {
                            assert!(tenure.check().is_err(), "believed to be held after its TTL");
                        }
                    }
                    tokio::task::yield_now().await;
                    Ok::<_, std::convert::Infallible>(())
                })
                .await
        });
        let ended = worker.await.expect("no panic");
        assert!(matches!(ended, Err(RunError::Lost(_))), "{ended:?}");
        becomes_free(&store, "key").await;
    });
}

/// Many short leases on few keys, with tasks that are aborted at random moments: nothing stays behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_tasks_leave_nothing_behind() {
    let store = MemoryStore::new();
    let leases = Leases::builder(store.clone())
        .ttl(Duration::from_secs(60))
        .renew_every(Duration::from_millis(1))
        .retry_between(Duration::from_micros(100), Duration::from_millis(1))
        .build()
        .expect("the settings are right");
    let mut workers = Vec::new();
    for number in 0..2000_u64 {
        let (leases, key) = (leases.clone(), format!("key {}", number % 7));
        let worker = tokio::spawn(async move {
            leases
                .run(key, |_| async {
                    tokio::time::sleep(Duration::from_micros(300)).await;
                    Ok::<_, std::convert::Infallible>(())
                })
                .await
        });
        let abort = worker.abort_handle();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_micros(number * 37 % 4000)).await;
            abort.abort();
        });
        workers.push(worker);
    }
    let ended = futures_util::future::join_all(workers).await;
    let aborted = ended.iter().filter(|end| end.is_err()).count();
    assert!(aborted > 100, "only {aborted} tasks were aborted");
    leases.close(Duration::from_secs(10)).await.expect("nothing is left");
    for number in 0..7 {
        assert!(is_free(&store, &format!("key {number}")).await);
    }
}
