//! The clock by which a holder judges its own lease: it never jumps, and on Linux it counts the time that the
//! machine was suspended, which `std::time::Instant` does not. No date, no time zone, nothing to compare between
//! machines.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A point on a [`Clock`]: the time since an arbitrary start, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The moment that lies `nanoseconds` after the clock's start.
    #[must_use]
    pub fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the clock's start.
    #[must_use]
    pub fn as_nanoseconds(self) -> u64 {
        self.0
    }

    /// The moment `span` later; the last one there is when the sum is beyond it.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(span)))
    }

    /// The moment `span` earlier; the first one there is when the difference is before it.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(nanoseconds(span)))
    }

    /// How long it is from `earlier` to here; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// What tells a holder how late it is. All moments of one [`Leases`](crate::Leases) come from one clock.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The present moment; never earlier than any that was told before.
    fn now(&self) -> Moment;
}

/// The machine's own clock since boot: `CLOCK_BOOTTIME` on Linux and Android, which goes on while the machine
/// sleeps; the monotonic clock elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct BootClock;

impl Clock for BootClock {
    fn now(&self) -> Moment {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        const SOURCE: rustix::time::ClockId = rustix::time::ClockId::Boottime;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        const SOURCE: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
        let read = rustix::time::clock_gettime(SOURCE);
        let seconds = u64::try_from(read.tv_sec).unwrap_or(0);
        let rest = u64::try_from(read.tv_nsec).unwrap_or(0);
        Moment(seconds.saturating_mul(1_000_000_000).saturating_add(rest))
    }
}

/// A clock that stands still until it is told to go on; for tests. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that shows `start`.
    #[must_use]
    pub fn starting_at(start: Moment) -> Self {
        Self(Arc::new(AtomicU64::new(start.0)))
    }

    /// Moves the clock `span` on.
    pub fn advance(&self, span: Duration) {
        self.0.fetch_add(nanoseconds(span), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_saturate() {
        let last = Moment::from_nanoseconds(u64::MAX);
        assert_eq!(last.after(Duration::MAX), last);
        assert_eq!(Moment::from_nanoseconds(5).before(Duration::MAX), Moment::from_nanoseconds(0));
        assert_eq!(Moment::from_nanoseconds(5).since(last), Duration::ZERO);
    }

    #[test]
    fn the_boot_clock_goes_forward() {
        let before = BootClock.now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(BootClock.now().since(before) >= Duration::from_millis(2));
    }
}
