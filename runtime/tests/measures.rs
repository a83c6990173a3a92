//! What leases tell the `metrics` facade, by names and units that are a promise.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold::clock::{BootClock, Clock, ManualClock};
use leasehold::fence::sqlite::SqliteFence;
use leasehold::measures;
use leasehold::store::memory::MemoryStore;
use leasehold::{AcquireError, LeaseStore, Leases};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// Keeps sums and how many there were, by name and labels.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    values: BTreeMap<String, (f64, usize)>,
    units: BTreeMap<String, Unit>,
}

struct Entry(Book, String);

impl Entry {
    fn add(&self, value: f64) {
        let mut pages = self.0.0.lock().expect("nobody panics with it");
        let (sum, times) = pages.values.entry(self.1.clone()).or_default();
        (*sum, *times) = (*sum + value, *times + 1);
    }
}

impl CounterFn for Entry {
    fn increment(&self, value: u64) {
        self.add(f64::from(u32::try_from(value).expect("it is small")));
    }

    fn absolute(&self, _: u64) {
        panic!("nothing is set");
    }
}

impl GaugeFn for Entry {
    fn increment(&self, value: f64) {
        self.add(value);
    }

    fn decrement(&self, value: f64) {
        self.add(-value);
    }

    fn set(&self, _: f64) {
        panic!("nothing is set");
    }
}

impl HistogramFn for Entry {
    fn record(&self, value: f64) {
        self.add(value);
    }
}

impl Book {
    fn entry(&self, key: &Key) -> Arc<Entry> {
        let labels: Vec<String> =
            key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Entry(self.clone(), format!("{} {}", key.name(), labels.join(" ")).trim_end().to_owned()))
    }

    fn describe(&self, key: &KeyName, unit: Option<Unit>) {
        let unit = unit.expect("every measure has a unit");
        self.0.lock().expect("nobody panics with it").units.insert(key.as_str().to_owned(), unit);
    }

    /// The sum under a name with labels, and how many there were.
    fn read(&self, name: &str, labels: &str) -> (f64, usize) {
        let pages = self.0.lock().expect("nobody panics with it");
        pages.values.get(format!("{name} {labels}").trim_end()).copied().unwrap_or_default()
    }

    async fn becomes(&self, name: &str, labels: &str, sum: f64) {
        for _ in 0..500 {
            if (self.read(name, labels).0 - sum).abs() < f64::EPSILON {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} {labels} is {:?}", self.read(name, labels));
    }
}

impl Recorder for Book {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.entry(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.entry(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.entry(key))
    }
}

/// One test, since a process has one recorder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_measure_is_told() {
    let book = Book::default();
    metrics::set_global_recorder(book.clone()).expect("there is no other");
    let store = MemoryStore::new();
    let build =
        || Leases::builder(store.clone()).ttl(Duration::from_millis(300)).build().expect("they are right");
    let leases = build();
    for name in [
        measures::ATTEMPTS,
        measures::ACQUIRE_WAIT,
        measures::HELD,
        measures::RENEWALS,
        measures::LOSSES,
        measures::RELEASES,
        measures::HOLD_TIME,
        measures::STALE_REFUSALS,
    ] {
        let unit = book.0.lock().expect("nobody panics with it").units.get(name).copied();
        let expected = if name.ends_with("_seconds") { Unit::Seconds } else { Unit::Count };
        assert_eq!(unit, Some(expected), "{name}");
    }

    // A waiter, a renewal, a release.
    let lease = leases.acquire("one").await.expect("it is free");
    book.becomes(measures::HELD, "store=memory", 1.0).await;
    let refused = build().try_acquire("one").await;
    assert!(matches!(refused, Err(AcquireError::Held { .. })), "{refused:?}");
    book.becomes(measures::ATTEMPTS, "store=memory outcome=held", 1.0).await;
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert!(book.read(measures::RENEWALS, "store=memory outcome=renewed").0 >= 1.0);
    assert!(lease.release().await.is_released());
    book.becomes(measures::RELEASES, "store=memory outcome=released", 1.0).await;
    book.becomes(measures::HELD, "store=memory", 0.0).await;
    let (held, times) = book.read(measures::HOLD_TIME, "store=memory");
    assert!(times == 1 && (0.45..10.0).contains(&held), "held for {held} s");
    let (waited, times) = book.read(measures::ACQUIRE_WAIT, "store=memory");
    assert!(times == 1 && waited < 10.0, "waited for {waited} s");
    assert_eq!(book.read(measures::ATTEMPTS, "store=memory outcome=granted").0, 1.0);

    // One that somebody else ends in the store, and one whose time runs out.
    let taken = leases.acquire("two").await.expect("it is free");
    let claim = leasehold::store::Claim {
        key: taken.key().clone(),
        owner: taken.owner(),
        ttl: Duration::from_millis(300),
    };
    store.release(&claim).await.expect("it answers");
    taken.cancelled().await;
    book.becomes(measures::LOSSES, "store=memory reason=not_mine", 1.0).await;
    drop(taken);
    book.becomes(measures::RELEASES, "store=memory outcome=already_lost", 1.0).await;
    let clock = ManualClock::starting_at(BootClock.now());
    let late = Leases::builder(MemoryStore::new()).ttl(Duration::from_secs(60)).clock(clock.clone()).build();
    let late = late.expect("they are right").acquire("three").await.expect("it is free");
    clock.advance(Duration::from_secs(60));
    book.becomes(measures::LOSSES, "store=memory reason=deadline", 1.0).await;
    drop(late);

    // A fence that refuses.
    let directory = tempfile::tempdir().expect("there is a temporary directory");
    let fence = SqliteFence::open(directory.path().join("bank.db")).expect("the directory is ours");
    let doubled = || async {
        let leases = Leases::builder(MemoryStore::new()).build().expect("they are right");
        leases.acquire("four").await.expect("it is free")
    };
    let (first, second) = (doubled().await, doubled().await);
    fence.claim(&first, "four").await.expect("it is the first");
    assert_eq!(book.read(measures::STALE_REFUSALS, "").0, 0.0);
    fence.claim(&second, "four").await.expect_err("the number is the first one's");
    assert_eq!(book.read(measures::STALE_REFUSALS, "").0, 1.0);
}
