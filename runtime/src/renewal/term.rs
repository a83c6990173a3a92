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

    #[derive(Debug, Clone, Copy)]
    enum Event {
        Pass(u64),
        Confirmed,
        Unanswered,
        NotMine,
        End,
    }

    const EVENTS: [Event; 7] = [
        Event::Pass(4),
        Event::Pass(10),
        Event::Pass(40),
        Event::Confirmed,
        Event::Unanswered,
        Event::NotMine,
        Event::End,
    ];

    /// What has happened so far, kept beside the term and not by it.
    #[derive(Clone)]
    struct Seen {
        now: u64,
        sent: u64,
        last_good: u64,
        in_a_row: u32,
        over: bool,
    }

    /// Plays one event; whether it can happen now.
    fn play(term: &mut Term, seen: &mut Seen, event: Event) -> bool {
        let answer = matches!(event, Event::Confirmed | Event::Unanswered | Event::NotMine);
        if answer && !term.in_flight() {
            return false;
        }
        let deadline = term.deadline();
        let step = match event {
            Event::Pass(seconds) => {
                seen.now += seconds;
                term.woken(at(seen.now))
            }
            Event::Confirmed => term.renewed(at(seen.sent), 30 * SECOND, at(seen.now)),
            Event::Unanswered => term.unanswered(),
            Event::NotMine => term.not_mine(),
            Event::End => {
                term.end();
                Step::Nothing
            }
        };
        assert!(!seen.over || step == Step::Nothing, "{event:?} after the end: {step:?}");
        match event {
            Event::Confirmed if !seen.over && step == Step::Nothing => {
                assert!(at(seen.now) < deadline, "a confirmation after the deadline was believed");
                (seen.last_good, seen.in_a_row) = (seen.sent, 0);
            }
            Event::Unanswered => seen.in_a_row += 1,
            _ => {}
        }
        match step {
            Step::Renew => {
                assert!(!seen.over && at(seen.now) < term.deadline());
                seen.sent = seen.now;
            }
            Step::Lose(_) => seen.over = true,
            Step::Nothing => {}
        }
        seen.over |= matches!(event, Event::End);
        true
    }

    /// Every order of eight events: no renewal after the end, none while one is under way, no term beyond its last
    /// good sending or beyond two failures in a row.
    #[test]
    fn every_order_of_events_is_safe() {
        fn explore(term: &Term, seen: &Seen, depth: u32, ends: &mut u64) {
            if depth == 0 {
                *ends += 1;
                return;
            }
            for event in EVENTS {
                let (mut term, mut seen) = (term.clone(), seen.clone());
                let waited = matches!(event, Event::Pass(_));
                if !play(&mut term, &mut seen, event) {
                    continue;
                }
                assert_eq!(term.wake_at().is_none(), seen.over, "{event:?}");
                if !seen.over {
                    assert!(seen.in_a_row < 2, "held after two failures in a row");
                    assert_eq!(term.deadline(), at(seen.last_good + 27), "counted from the sending");
                    assert!(!waited || at(seen.now) < term.deadline(), "held beyond the deadline");
                    assert!(term.wake_at() <= Some(term.deadline()), "nobody would notice the deadline");
                }
                explore(&term, &seen, depth - 1, ends);
            }
        }
        let seen = Seen { now: 100, sent: 100, last_good: 100, in_a_row: 0, over: false };
        let mut ends = 0;
        explore(&term(), &seen, 8, &mut ends);
        assert!(ends > 50_000, "only {ends} orders were tried");
    }
}
