//! The state of one held lease and the decisions that follow from it: when to renew, when to give up. Pure: no
//! clock, no store and no task, so that every order of events can be tried out.

use std::time::Duration;

use crate::clock::Moment;
use crate::loss::LossReason;
use crate::settings::Settings;

/// What the settings say about one grant.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    ttl: Duration,
    margin: Duration,
    renew_every: Duration,
    failures_allowed: u32,
}

impl From<&Settings> for Schedule {
    fn from(settings: &Settings) -> Self {
        Self {
            ttl: settings.ttl,
            margin: settings.drift_margin.saturating_add(settings.stop_margin),
            renew_every: settings.renew_every,
            failures_allowed: settings.failures_allowed,
        }
    }
}

impl Schedule {
    /// When work under a grant must have been told to stop. Counted from before the request was sent: the store
    /// began to count later than that, so it will not give the lease away before.
    pub(crate) fn deadline(&self, sent: Moment, granted: Duration) -> Moment {
        sent.after(granted.min(self.ttl).saturating_sub(self.margin))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Renewals go out.
    Held,
    /// The work was cancelled; nothing is renewed.
    Lost,
    /// The holder has given it back; nothing is renewed.
    Ending,
}

/// One held lease.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    schedule: Schedule,
    deadline: Moment,
    next_renewal: Moment,
    failures: u32,
    in_flight: bool,
    phase: Phase,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Nothing,
    Renew,
    Lose(LossReason),
}

impl Term {
    pub(crate) fn granted(schedule: Schedule, sent: Moment, granted: Duration) -> Self {
        let deadline = schedule.deadline(sent, granted);
        let next_renewal = sent.after(schedule.renew_every.min(granted / 3));
        Self { schedule, deadline, next_renewal, failures: 0, in_flight: false, phase: Phase::Held }
    }

    pub(crate) fn deadline(&self) -> Moment {
        self.deadline
    }

    pub(crate) fn in_flight(&self) -> bool {
        self.in_flight
    }

    /// When there is something to decide next.
    pub(crate) fn wake_at(&self) -> Option<Moment> {
        let renewal = if self.in_flight { self.deadline } else { self.next_renewal };
        (self.phase == Phase::Held).then(|| renewal.min(self.deadline))
    }

    /// Time has passed.
    pub(crate) fn woken(&mut self, now: Moment) -> Step {
        if self.phase != Phase::Held {
            return Step::Nothing;
        }
        if now >= self.deadline {
            return self.lose(LossReason::Deadline);
        }
        if self.in_flight || now < self.next_renewal {
            return Step::Nothing;
        }
        self.in_flight = true;
        self.next_renewal = now.after(self.schedule.renew_every);
        Step::Renew
    }

    /// A renewal that was sent at `sent` was confirmed.
    pub(crate) fn renewed(&mut self, sent: Moment, granted: Duration, now: Moment) -> Step {
        self.in_flight = false;
        if self.phase != Phase::Held {
            return Step::Nothing;
        }
        // The holder may have seen its deadline pass already; a loss is final, whatever the store says later.
        if now >= self.deadline {
            return self.lose(LossReason::Deadline);
        }
        self.failures = 0;
        self.deadline = self.deadline.max(self.schedule.deadline(sent, granted));
        Step::Nothing
    }

    /// The store says that the lease is somebody else's, or nobody's.
    pub(crate) fn not_mine(&mut self) -> Step {
        self.in_flight = false;
        if self.phase == Phase::Held { self.lose(LossReason::NotMine) } else { Step::Nothing }
    }

    /// A renewal had no answer. The lease may well be alive; after too many of them that is no longer likely
    /// enough to go on.
    pub(crate) fn unanswered(&mut self) -> Step {
        self.in_flight = false;
        if self.phase != Phase::Held {
            return Step::Nothing;
        }
        self.failures += 1;
        if self.failures >= self.schedule.failures_allowed {
            return self.lose(LossReason::RenewalsFailed { failures: self.failures });
        }
        Step::Nothing
    }

    /// The work has ended and the lease will be released: no renewal may follow.
    pub(crate) fn end(&mut self) {
        self.phase = Phase::Ending;
    }

    fn lose(&mut self, reason: LossReason) -> Step {
        self.phase = Phase::Lost;
        Step::Lose(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: u64) -> Moment {
        Moment::from_nanoseconds(seconds * 1_000_000_000)
    }

    fn term() -> Term {
        let schedule =
            Schedule { ttl: 30 * SECOND, margin: 3 * SECOND, renew_every: 10 * SECOND, failures_allowed: 2 };
        Term::granted(schedule, at(100), 30 * SECOND)
    }

    #[test]
    fn renews_at_a_third_and_counts_from_the_sending() {
        let mut term = term();
        assert_eq!((term.deadline(), term.wake_at()), (at(127), Some(at(110))));
        assert_eq!(term.woken(at(109)), Step::Nothing);
        assert_eq!(term.woken(at(110)), Step::Renew);
        assert_eq!(term.wake_at(), Some(at(127)), "while a renewal is under way, only the deadline matters");
        assert_eq!(term.renewed(at(110), 30 * SECOND, at(114)), Step::Nothing);
        assert_eq!((term.deadline(), term.wake_at()), (at(137), Some(at(120))));
    }

    #[test]
    fn one_failure_is_forgiven_and_two_in_a_row_are_not() {
        let mut term = term();
        for round in 0..50 {
            let now = term.wake_at().unwrap();
            assert_eq!(term.woken(now), Step::Renew);
            let step = if round % 2 == 0 { term.unanswered() } else { term.renewed(now, 30 * SECOND, now) };
            assert_eq!(step, Step::Nothing);
        }
        assert_eq!(term.woken(term.wake_at().unwrap()), Step::Renew);
        assert_eq!(term.unanswered(), Step::Nothing);
        assert_eq!(term.woken(term.wake_at().unwrap()), Step::Renew);
        assert_eq!(term.unanswered(), Step::Lose(LossReason::RenewalsFailed { failures: 2 }));
        assert_eq!(term.wake_at(), None);
    }

    #[test]
    fn the_deadline_wins_over_a_late_confirmation() {
        let mut term = term();
        assert_eq!(term.woken(at(110)), Step::Renew);
        assert_eq!(term.renewed(at(110), 30 * SECOND, at(127)), Step::Lose(LossReason::Deadline));
        assert_eq!(term.renewed(at(126), 30 * SECOND, at(128)), Step::Nothing);
        assert_eq!(term.wake_at(), None);
    }

    #[test]
    fn nothing_is_renewed_after_the_end() {
        let mut term = term();
        assert_eq!(term.woken(at(110)), Step::Renew);
        term.end();
        assert!(term.in_flight());
        assert_eq!(term.renewed(at(110), 30 * SECOND, at(111)), Step::Nothing);
        assert_eq!(
            (term.wake_at(), term.woken(at(500)), term.not_mine()),
            (None, Step::Nothing, Step::Nothing)
        );
    }

    #[test]
    fn a_shorter_grant_is_believed() {
        let schedule = term().schedule;
        let term = Term::granted(schedule, at(0), 6 * SECOND);
        assert_eq!((term.deadline(), term.wake_at()), (at(3), Some(at(2))));
    }
}
