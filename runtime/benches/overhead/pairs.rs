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
        let number = |value: f64, places: usize| match value.is_nan() {
            true => String::new(),
            false => format!("{value:.places$}"),
        };
        let (hand, store, leases) = (self.by_hand.median(), self.store.median(), self.leases.median());
        println!(
            "{name:<28} {what:<18} {:>9} {:>9} {:>6} {:>9} {:>6} {:>12}",
            number(hand, 1),
            number(store, 1),
            number(store / hand, 2),
            number(leases, 1),
            number(leases / hand, 2),
            number(self.leases.percentile(99), 1),
        );
    }
}

/// Every order of the ways: what one leaves behind, such as a disk that is still at work, must not always strike the
/// same one.
const ORDERS: [[Way; 3]; 6] = {
    use Way::{ByHand, Leases, Store};
    [
        [ByHand, Store, Leases],
        [Leases, Store, ByHand],
        [Store, ByHand, Leases],
        [Leases, ByHand, Store],
        [ByHand, Leases, Store],
        [Store, Leases, ByHand],
    ]
};

#[derive(Clone, Copy)]
enum Way {
    ByHand,
    Store,
    Leases,
}

/// All ways in turns. `Leases` renews by itself, in the background, so its renewals have no time of their own.
pub async fn measure(name: &str, store: impl LeaseStore + Clone, mut plain: Option<Plain>, rounds: usize) {
    let leases = crate::leases(store.clone());
    let (mut pairs, mut renewals) = (Ways::default(), Ways::default());
    for round in 0..rounds + rounds / 10 {
        if round == rounds / 10 {
            // Connections are open, statements prepared, pages read.
            (pairs, renewals) = (Ways::default(), Ways::default());
        }
        for way in ORDERS[round % ORDERS.len()] {
            match way {
                Way::ByHand => {
                    let Some(plain) = &mut plain else { continue };
                    by_hand(plain, &mut pairs.by_hand, &mut renewals.by_hand).await;
                }
                Way::Store => by_store(&store, &mut pairs.store, &mut renewals.store).await,
                Way::Leases => {
                    let pair = async {
                        let lease = leases.try_acquire("in leases").await.expect("it is free");
                        assert!(lease.release().await.is_released());
                    };
                    pairs.leases.time(pair).await;
                }
            }
        }
    }
    pairs.tell(name, "acquire + release");
    renewals.tell(name, "renewal");
    leases.close(Duration::from_secs(5)).await.expect("all are given back");
}

async fn by_hand(plain: &mut Plain, pairs: &mut Samples, renewals: &mut Samples) {
    let pair = async {
        plain.acquire().await;
        plain.release().await;
    };
    pairs.time(pair).await;
    plain.acquire().await;
    renewals.time(plain.renew()).await;
    plain.release().await;
}

async fn by_store(store: &impl LeaseStore, pairs: &mut Samples, renewals: &mut Samples) {
    let fresh = || {
        let owner = OwnerValue::fresh().expect("there is randomness");
        let key = LeaseKey::new("in a store").expect("it is short");
        Claim { key, owner, ttl: Duration::from_secs(6) }
    };
    let pair = async {
        let claim = fresh();
        let granted = store.acquire(&claim).await.expect("it is up");
        assert!(matches!(granted, Acquisition::Granted(_)));
        assert_eq!(store.release(&claim).await.expect("it is up"), Surrender::Released);
    };
    pairs.time(pair).await;
    let claim = fresh();
    let granted = store.acquire(&claim).await.expect("it is up");
    assert!(matches!(granted, Acquisition::Granted(_)));
    let renewed = renewals.time(store.renew(&claim)).await.expect("it is up");
    assert!(matches!(renewed, Renewal::Renewed { .. }));
    assert_eq!(store.release(&claim).await.expect("it is up"), Surrender::Released);
}
