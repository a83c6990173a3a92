//! How long it takes until a waiter has the lease that its holder gives back: with hints, and without.

use std::time::{Duration, Instant};

use leasehold::store::{Acquisition, Capabilities, Claim, Renewal, Surrender};
use leasehold::{LeaseStore, StoreError};

use crate::samples::Samples;

const ROUNDS: usize = 40;

pub fn heading() {
    println!("\nfrom the release to the next holder, median (and 99 of 100) in milliseconds");
    println!("{:<28} {:>18} {:>18}", "store", "with hints", "asking again");
}

/// A store that does not tell its waiters anything.
struct Silent<S>(S);

impl<S: LeaseStore> LeaseStore for Silent<S> {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        self.0.acquire(claim).await
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        self.0.renew(claim).await
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        self.0.release(claim).await
    }
}

pub async fn measure<S: LeaseStore>(name: &str, store: impl Fn() -> S) {
    let has_hints = store().capabilities().has_hints();
    let told = match has_hints {
        true => between(crate::leases(store()), crate::leases(store())).await,
        false => Samples::default(),
    };
    let asking = between(crate::leases(store()), crate::leases(Silent(store()))).await;
    let both = |samples: &Samples| match samples.median().is_nan() {
        true => String::new(),
        false => format!("{:.1} ({:.1})", samples.median() / 1000.0, samples.percentile(99) / 1000.0),
    };
    println!("{name:<28} {:>18} {:>18}", both(&told), both(&asking));
}

async fn between(holder: leasehold::Leases, waiter: leasehold::Leases) -> Samples {
    let mut samples = Samples::default();
    for round in 0..ROUNDS {
        let lease = holder.acquire("handed over").await.expect("it becomes free");
        let next = waiter.clone();
        let waiting = tokio::spawn(async move {
            let lease = next.acquire("handed over").await.expect("it becomes free");
            let since = Instant::now();
            assert!(lease.release().await.is_released());
            since
        });
        // Long enough for pauses to have grown, and not always the same part of one.
        tokio::time::sleep(Duration::from_millis(400 + round as u64 * 7)).await;
        let began = Instant::now();
        assert!(lease.release().await.is_released());
        samples.push(waiting.await.expect("it does not panic") - began);
    }
    samples
}
