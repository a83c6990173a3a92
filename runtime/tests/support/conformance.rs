//! What every store must do, whatever it is made of. A store proves it by handing in a constructor; see
//! `tests/stores.rs`. Each property is one test, on keys of its own, so all may run at the same time.

mod claims;
mod leases;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use leasehold::LeaseStore;
use leasehold::store::Claim;
use leasehold::{LeaseKey, OwnerValue};
use libtest_mimic::{Failed, Trial};

/// Opens a store for the suite. Called several times in one property: all stores that it opens must be handles,
/// with connections of their own, on the same data.
pub trait Subject: Clone + Send + Sync + 'static {
    type Store: LeaseStore;

    /// Another handle on the same data.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Whether grants live in a server or a file, so that handles in several processes would share them.
    fn shared_between_processes(&self) -> bool {
        true
    }
}

/// All properties for one store, as tests named `store::property`.
pub fn trials<S: Subject>(store: &str, subject: S) -> Vec<Trial> {
    let mut all = claims::trials(store, &subject);
    all.extend(leases::trials(store, &subject));
    all
}

/// One property as a test, on a runtime of its own.
fn trial<S, F>(store: &str, name: &str, subject: &S, property: fn(Bench<S>) -> F) -> Trial
where
    S: Subject,
    F: Future<Output = ()> + 'static,
{
    let bench = Bench { subject: subject.clone(), property: name.replace(' ', "-").into() };
    Trial::test(format!("{store}::{}", name.replace(' ', "_")), move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failed::from(error.to_string()))?;
        runtime.block_on(property(bench));
        Ok(())
    })
}

/// What a property works with.
#[derive(Clone)]
struct Bench<S> {
    subject: S,
    property: Arc<str>,
}

impl<S: Subject> Bench<S> {
    async fn store(&self) -> S::Store {
        self.subject.open().await
    }

    /// A key that only this property uses.
    fn key(&self, name: &str) -> LeaseKey {
        LeaseKey::new(format!("{}/{name}", self.property)).expect("it is short")
    }

    /// A claim of a fresh owner.
    fn claim(&self, name: &str, ttl: Duration) -> Claim {
        Claim { key: self.key(name), owner: OwnerValue::fresh().expect("there is randomness"), ttl }
    }
}

/// The shortest TTL that a busy test machine and this store can work with.
fn short(store: &impl LeaseStore) -> Duration {
    Duration::from_millis(300).max(store.capabilities().min_ttl())
}

/// A TTL that does not end during a property.
const LONG: Duration = Duration::from_secs(60);
