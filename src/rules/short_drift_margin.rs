//! The validity of a lock on several nodes is taken for longer than it is.

use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for quorum in &inventory.quorums {
        let missing = match (quorum.asks_elapsed, quorum.asks_drift) {
            (false, _) => "the time that the acquire took",
            (true, false) => "the drift of the clocks",
            (true, true) => continue,
        };
        // Where the validity is worked out, and else where only the count decides.
        let (place, label) = match quorum.validity.filter(|_| quorum.asks_elapsed) {
            Some(validity) => (validity, "this is longer than the lock is sure to last"),
            None => (quorum.location, "only the count is asked for"),
        };
        report.add(
            Draft::new(
                place,
                label,
                format!("the validity of the lock `{}` leaves out {missing}: the first node may have let go before the last one was asked", quorum.lock),
                "read `Instant::now()` before the first request, and go on only while `ttl - elapsed - drift` is positive",
            )
            .confidence(Confidence::Medium)
            .lock(&quorum.lock)
            .related(quorum.acquired_at, "the lock is taken on one node here"),
        );
    }
}
