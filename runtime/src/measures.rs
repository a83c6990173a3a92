//! What leases tell the `metrics` facade, with the feature `metrics`; without it nothing is told. The names are part
//! of the library's promise. No measure carries a lease's name, of which there may be any number.
//!
//! | name | kind, unit | labels | what |
//! |---|---|---|---|
//! | [`ATTEMPTS`] | counter | `store`, `outcome`: `granted`, `held`, `too_late`, `failed` | attempts to acquire |
//! | [`ACQUIRE_WAIT`] | histogram, seconds | `store` | from the call to the lease, with all attempts and pauses |
//! | [`HELD`] | gauge | `store` | leases that are held, and renewed |
//! | [`RENEWALS`] | counter | `store`, `outcome`: `renewed`, `not_mine`, `failed` | answers to renewals, or none |
//! | [`LOSSES`] | counter | `store`, `reason`: `not_mine`, `renewals_failed`, `deadline` | leases that ended under their work |
//! | [`RELEASES`] | counter | `store`, `outcome`: `released`, `already_lost`, `unconfirmed` | leases given back |
//! | [`HOLD_TIME`] | histogram, seconds | `store` | from the request for a grant to its release or loss |
//! | [`STALE_REFUSALS`] | counter | | claims and transactions that a fence row refused as stale |
//!
//! `store` is the store's name, such as `redis`. [`LeasesBuilder::build`](crate::LeasesBuilder::build) describes them
//! to the recorder that is installed then.

use std::time::Duration;

/// Attempts to acquire: a counter with the labels `store` and `outcome`.
pub const ATTEMPTS: &str = "leasehold_acquire_attempts_total";
/// From the call of an acquire to the lease: a histogram in seconds with the label `store`.
pub const ACQUIRE_WAIT: &str = "leasehold_acquire_wait_seconds";
/// Leases that are held: a gauge with the label `store`.
pub const HELD: &str = "leasehold_held_leases";
/// Renewals: a counter with the labels `store` and `outcome`.
pub const RENEWALS: &str = "leasehold_renewals_total";
/// Leases that ended before they were given back: a counter with the labels `store` and `reason`.
pub const LOSSES: &str = "leasehold_losses_total";
/// Leases given back: a counter with the labels `store` and `outcome`.
pub const RELEASES: &str = "leasehold_releases_total";
/// How long leases were held: a histogram in seconds with the label `store`.
pub const HOLD_TIME: &str = "leasehold_hold_seconds";
/// Claims and transactions that were refused as stale: a counter without labels.
pub const STALE_REFUSALS: &str = "leasehold_stale_refusals_total";

#[cfg(feature = "metrics")]
pub(crate) fn describe() {
    use metrics::Unit;
    metrics::describe_counter!(ATTEMPTS, Unit::Count, "attempts to acquire a lease");
    metrics::describe_histogram!(ACQUIRE_WAIT, Unit::Seconds, "from the call of an acquire to the lease");
    metrics::describe_gauge!(HELD, Unit::Count, "leases that are held");
    metrics::describe_counter!(RENEWALS, Unit::Count, "renewals of leases");
    metrics::describe_counter!(LOSSES, Unit::Count, "leases that ended before they were given back");
    metrics::describe_counter!(RELEASES, Unit::Count, "leases that were given back");
    metrics::describe_histogram!(HOLD_TIME, Unit::Seconds, "how long leases were held");
    metrics::describe_counter!(STALE_REFUSALS, Unit::Count, "claims and transactions refused as stale");
}

#[cfg(not(feature = "metrics"))]
pub(crate) fn describe() {}

/// One more of something that has one label beside the store's.
pub(crate) fn count(name: &'static str, store: &'static str, label: &'static str, value: &'static str) {
    #[cfg(feature = "metrics")]
    metrics::counter!(name, "store" => store, label => value).increment(1);
    #[cfg(not(feature = "metrics"))]
    let _ = (name, store, label, value);
}

pub(crate) fn time(name: &'static str, store: &'static str, span: Duration) {
    #[cfg(feature = "metrics")]
    metrics::histogram!(name, "store" => store).record(span.as_secs_f64());
    #[cfg(not(feature = "metrics"))]
    let _ = (name, store, span);
}

/// The number of leases that are held changes by so many.
pub(crate) fn held(store: &'static str, change: i32) {
    #[cfg(feature = "metrics")]
    metrics::gauge!(HELD, "store" => store).increment(f64::from(change));
    #[cfg(not(feature = "metrics"))]
    let _ = (store, change);
}

#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
pub(crate) fn stale_refusal() {
    #[cfg(feature = "metrics")]
    metrics::counter!(STALE_REFUSALS).increment(1);
}
