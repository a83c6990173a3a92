//! How long leases last, how they are renewed and how long one waits for them. Checked as a whole when they are
//! built: a schedule in which the work could outlive its lease is refused, not repaired.

use std::time::Duration;

use thiserror::Error;

use crate::store::Capabilities;

/// The TTL that leases have when none is asked for.
pub const DEFAULT_TTL: Duration = Duration::from_secs(30);

/// What the caller asked for; `None` means "derived from the TTL".
#[derive(Debug, Clone)]
pub(crate) struct Wishes {
    pub ttl: Duration,
    pub renew_every: Option<Duration>,
    pub failures_allowed: u32,
    pub drift_margin: Option<Duration>,
    pub stop_margin: Option<Duration>,
    pub attempt_timeout: Option<Duration>,
    pub retry_first: Duration,
    pub retry_most: Duration,
    pub wait_at_most: Option<Duration>,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            ttl: DEFAULT_TTL,
            renew_every: None,
            failures_allowed: 2,
            drift_margin: None,
            stop_margin: None,
            attempt_timeout: None,
            retry_first: Duration::from_millis(50),
            retry_most: Duration::from_millis(500),
            wait_at_most: None,
        }
    }
}

/// The checked settings of one [`Leases`](crate::Leases). All durations are exact; none is rounded on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub(crate) ttl: Duration,
    pub(crate) renew_every: Duration,
    pub(crate) failures_allowed: u32,
    pub(crate) drift_margin: Duration,
    pub(crate) stop_margin: Duration,
    pub(crate) attempt_timeout: Duration,
    pub(crate) retry_first: Duration,
    pub(crate) retry_most: Duration,
    pub(crate) wait_at_most: Option<Duration>,
}

impl Settings {
    /// The time after which the store may give the lease to somebody else, unless it is renewed.
    #[must_use]
    pub fn ttl(&self) -> Duration {
        self.ttl
    }

    /// The time between the sending of one renewal and the next.
    #[must_use]
    pub fn renew_every(&self) -> Duration {
        self.renew_every
    }

    /// How many renewals in a row may fail before the work is cancelled; the last of them cancels it.
    #[must_use]
    pub fn failures_allowed(&self) -> u32 {
        self.failures_allowed
    }

    /// What is taken off the TTL because the store's clock may run faster than ours.
    #[must_use]
    pub fn drift_margin(&self) -> Duration {
        self.drift_margin
    }

    /// What is taken off the TTL so that cancelled work has time to stop.
    #[must_use]
    pub fn stop_margin(&self) -> Duration {
        self.stop_margin
    }

    /// How long one request to the store may take before it counts as failed.
    #[must_use]
    pub fn attempt_timeout(&self) -> Duration {
        self.attempt_timeout
    }

    /// From the sending of a grant or renewal to the moment when the work is cancelled.
    #[must_use]
    pub fn usable(&self) -> Duration {
        self.ttl.saturating_sub(self.drift_margin).saturating_sub(self.stop_margin)
    }

    pub(crate) fn check(wishes: &Wishes, store: &Capabilities) -> Result<Self, SettingsError> {
        let ttl = wishes.ttl;
        if ttl < store.min_ttl {
            return Err(SettingsError::TtlTooShort { ttl, least: store.min_ttl, store: store.name });
        }
        if ttl > store.max_ttl {
            return Err(SettingsError::TtlTooLong { ttl, most: store.max_ttl, store: store.name });
        }
        if !ttl.as_nanos().is_multiple_of(store.ttl_unit.as_nanos().max(1)) {
            return Err(SettingsError::TtlNotWhole { ttl, unit: store.ttl_unit, store: store.name });
        }
        let settings = Self {
            ttl,
            renew_every: wishes.renew_every.unwrap_or(ttl / 3),
            failures_allowed: wishes.failures_allowed,
            drift_margin: wishes.drift_margin.unwrap_or(ttl / 100 + Duration::from_millis(2)),
            stop_margin: wishes.stop_margin.unwrap_or(ttl / 10),
            attempt_timeout: wishes.attempt_timeout.unwrap_or(ttl / 6),
            retry_first: wishes.retry_first,
            retry_most: wishes.retry_most,
            wait_at_most: wishes.wait_at_most,
        };
        settings.check_schedule()?;
        Ok(settings)
    }

    /// The last allowed failure must be known before the deadline, or a lost lease would be noticed too late.
    fn check_schedule(&self) -> Result<(), SettingsError> {
        for (what, value) in [
            ("renewal interval", self.renew_every),
            ("attempt timeout", self.attempt_timeout),
            ("first retry", self.retry_first),
        ] {
            if value.is_zero() {
                return Err(SettingsError::Zero { what });
            }
        }
        if self.failures_allowed == 0 {
            return Err(SettingsError::Zero { what: "number of failures allowed" });
        }
        if self.retry_most < self.retry_first {
            return Err(SettingsError::RetryOrder { first: self.retry_first, most: self.retry_most });
        }
        let last_failure = self
            .renew_every
            .checked_mul(self.failures_allowed)
            .and_then(|sent| sent.checked_add(self.attempt_timeout))
            .unwrap_or(Duration::MAX);
        if last_failure > self.usable() {
            return Err(SettingsError::TooLate {
                last_failure,
                usable: self.usable(),
                ttl: self.ttl,
                failures: self.failures_allowed,
            });
        }
        Ok(())
    }
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The TTL is below what the store can keep.
    #[error(
        "a TTL of {ttl:?} is too short: {store} keeps leases for {least:?} at least; ask for a longer TTL"
    )]
    TtlTooShort {
        /// The TTL that was asked for.
        ttl: Duration,
        /// The shortest that the store can keep.
        least: Duration,
        /// The store's name.
        store: &'static str,
    },
    /// The TTL is above what the store can keep.
    #[error("a TTL of {ttl:?} is too long: {store} keeps leases for {most:?} at most; ask for a shorter TTL")]
    TtlTooLong {
        /// The TTL that was asked for.
        ttl: Duration,
        /// The longest that the store can keep.
        most: Duration,
        /// The store's name.
        store: &'static str,
    },
    /// The TTL is no whole number of the store's unit, and would be rounded.
    #[error(
        "a TTL of {ttl:?} would be rounded: {store} counts in steps of {unit:?}; ask for a multiple of it"
    )]
    TtlNotWhole {
        /// The TTL that was asked for.
        ttl: Duration,
        /// The store's unit of time.
        unit: Duration,
        /// The store's name.
        store: &'static str,
    },
    /// A duration or number that must be positive is zero.
    #[error("the {what} is zero; leave it out to have the default")]
    Zero {
        /// Which setting.
        what: &'static str,
    },
    /// The longest wait between two tries is below the first one.
    #[error("waits between tries start at {first:?}, above their longest, {most:?}; swap the two")]
    RetryOrder {
        /// The first wait.
        first: Duration,
        /// The longest wait.
        most: Duration,
    },
    /// The renewals' failure would be known only when the work must already have stopped.
    #[error(
        "with a TTL of {ttl:?} the work must stop after {usable:?}, but failure {failures} in a row would be \
         known only after {last_failure:?}; renew more often, allow fewer failures, or ask for a longer TTL"
    )]
    TooLate {
        /// When the last allowed failure is known, counted from the last good renewal.
        last_failure: Duration,
        /// When the work is cancelled at the latest.
        usable: Duration,
        /// The TTL that was asked for.
        ttl: Duration,
        /// How many failures are allowed.
        failures: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities() -> Capabilities {
        Capabilities::new("a store").ttl_between(Duration::from_millis(10), Duration::from_secs(86_400))
    }

    #[test]
    fn defaults_follow_the_ttl() {
        let settings = Settings::check(&Wishes::default(), &capabilities()).unwrap();
        assert_eq!(settings.renew_every(), Duration::from_secs(10));
        assert_eq!(settings.usable(), Duration::from_millis(26_698));
    }

    #[test]
    fn a_ttl_beyond_the_store_is_refused() {
        for ttl in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX, Duration::from_micros(50_500)] {
            let wishes = Wishes { ttl, ..Wishes::default() };
            assert!(Settings::check(&wishes, &capabilities()).is_err(), "{ttl:?}");
        }
    }

    #[test]
    fn a_schedule_that_notices_too_late_is_refused() {
        let late = Wishes { renew_every: Some(Duration::from_secs(14)), ..Wishes::default() };
        assert!(matches!(Settings::check(&late, &capabilities()), Err(SettingsError::TooLate { .. })));
        let overflow = Wishes { renew_every: Some(Duration::MAX), ..Wishes::default() };
        assert!(matches!(Settings::check(&overflow, &capabilities()), Err(SettingsError::TooLate { .. })));
    }

    /// Whatever is accepted notices the last failure before the deadline, and has some time to work in.
    #[test]
    fn accepted_schedules_are_safe() {
        let spans = [0, 1, 3, 10, 33, 100, 333, 1_000, 3_000, 10_000].map(Duration::from_millis);
        let mut accepted = 0;
        for ttl in spans {
            for renew_every in spans {
                for attempt_timeout in spans {
                    for failures_allowed in 0..4 {
                        let wishes = Wishes {
                            ttl,
                            renew_every: Some(renew_every),
                            attempt_timeout: Some(attempt_timeout),
                            failures_allowed,
                            ..Wishes::default()
                        };
                        let Ok(settings) = Settings::check(&wishes, &capabilities()) else { continue };
                        accepted += 1;
                        let known = settings.renew_every * failures_allowed + settings.attempt_timeout;
                        assert!(known <= settings.usable() && settings.usable() < ttl, "{settings:?}");
                    }
                }
            }
        }
        assert!(accepted > 100);
    }
}
