//! Acquire and release, and renewals, of a lease that nobody else wants.

use std::time::Duration;

use leasehold::store::{Acquisition, Claim, Renewal, Surrender};
use leasehold::{LeaseKey, LeaseStore, OwnerValue};

use crate::plain::Plain;
use crate::samples::Samples;

pub fn heading() {
    println!("median of one operation in microseconds, and how many times what is sent by hand");
    println!(
        "{:<28} {:<18} {:>9} {:>9} {:>6} {:>9} {:>6} {:>12}",
        "store", "", "by hand", "store", "", "Leases", "", "its 99 of 100"
    );
}

#[derive(Default)]
struct Ways {
    by_hand: Samples,
    store: Samples,
    leases: Samples,
}

impl Ways {
    fn tell(&self, name: &str, what: &str) {
        let hand = self.by_hand.median();
        println!(
            "{name:<28} {what:<18} {hand:>9.1} {:>9.1} {:>6.2} {:>9.1} {:>6.2} {:>12.1}",
            self.store.median(),
            self.store.median() / hand,
            self.leases.median(),
            self.leases.median() / hand,
            self.leases.percentile(99),
        );
    }
}

/// All ways in turns. `Leases` renews by itself, in the background, so its renewals have no time of their own.
pub async fn measure(name: &str, store: impl LeaseStore + Clone, mut plain: Option<Plain>, rounds: usize) {
    let leases = crate::leases(store.clone());
    let key = LeaseKey::new("in a store").expect("it is short");
    let (mut pairs, mut renewals) = (Ways::default(), Ways::default());
    for round in 0..rounds + rounds / 10 {
        if round == rounds / 10 {
            // Connections are open, statements prepared, pages read.
            (pairs, renewals) = (Ways::default(), Ways::default());
        }
        if let Some(plain) = &mut plain {
            let pair = async {
                plain.acquire().await;
                plain.release().await;
            };
            pairs.by_hand.time(pair).await;
            plain.acquire().await;
            renewals.by_hand.time(plain.renew()).await;
            plain.release().await;
        }
        let fresh = || {
            let owner = OwnerValue::fresh().expect("there is randomness");
            Claim { key: key.clone(), owner, ttl: Duration::from_secs(6) }
        };
        let pair = async {
            let claim = fresh();
            let granted = store.acquire(&claim).await.expect("it is up");
            assert!(matches!(granted, Acquisition::Granted(_)));
            assert_eq!(store.release(&claim).await.expect("it is up"), Surrender::Released);
        };
        pairs.store.time(pair).await;
        let claim = fresh();
        let granted = store.acquire(&claim).await.expect("it is up");
        assert!(matches!(granted, Acquisition::Granted(_)));
        let renewed = renewals.store.time(store.renew(&claim)).await.expect("it is up");
        assert!(matches!(renewed, Renewal::Renewed { .. }));
        assert_eq!(store.release(&claim).await.expect("it is up"), Surrender::Released);
        let pair = async {
            let lease = leases.try_acquire("in leases").await.expect("it is free");
            assert!(lease.release().await.is_released());
        };
        pairs.leases.time(pair).await;
    }
    pairs.tell(name, "acquire + release");
    renewals.tell(name, "renewal");
    leases.close(Duration::from_secs(5)).await.expect("all are given back");
}
