//! The state of one held lease and the decisions that follow from it: when to renew, when to give up, when to release
//! and what to say of it. Pure: no clock, no store and no task, so that every order of events can be tried out, as
//! `tests/model` does with this very file.

use std::time::Duration;

use crate::clock::Moment;
use crate::loss::LossReason;
use crate::settings::Settings;

/// What the settings say about one grant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Schedule {
    ttl: Duration,
    margin: Duration,
    renew_every: Duration,
    failures_allowed: u32,
}

impl From<&Settings> for Schedule {
    fn from(settings: &Settings) -> Self {
        Self {
            ttl: settings.ttl(),
            margin: settings.drift_margin().saturating_add(settings.stop_margin()),
            renew_every: settings.renew_every(),
            failures_allowed: settings.failures_allowed(),
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// Renewals go out.
    Held,
    /// The work was cancelled; nothing is renewed.
    Lost,
    /// The work has ended; nothing is renewed, and the release waits for the last renewal.
    Ending,
    /// The release has been sent.
    Releasing,
}

/// One held lease.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    schedule: Schedule,
    deadline: Moment,
    next_renewal: Moment,
    failures: u32,
    in_flight: bool,
    phase: Phase,
    loss: Option<LossReason>,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Nothing,
    Renew,
    Lose(LossReason),
    Release,
}

/// What the store said to a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parting {
    Freed,
    NotMine,
    Unanswered,
}

/// What became of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fate {
    /// It was held up to its release.
    Released,
    Lost(LossReason),
    /// It was held as far as is known, and the store did not say whether it is free.
    Unconfirmed,
}

impl Term {
    pub(crate) fn granted(schedule: Schedule, sent: Moment, granted: Duration) -> Self {
        let deadline = schedule.deadline(sent, granted);
        let next_renewal = sent.after(schedule.renew_every.min(granted / 3));
        let (failures, in_flight, phase, loss) = (0, false, Phase::Held, None);
        Self { schedule, deadline, next_renewal, failures, in_flight, phase, loss }
    }

    pub(crate) fn deadline(&self) -> Moment {
        self.deadline
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
        if let Some(step) = self.quiet() {
            return step;
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
        self.quiet().unwrap_or_else(|| self.lose(LossReason::NotMine))
    }

    /// A renewal had no answer. The lease may well be alive; after too many of them that is no longer likely
    /// enough to go on.
    pub(crate) fn unanswered(&mut self) -> Step {
        if let Some(step) = self.quiet() {
            return step;
        }
        self.failures += 1;
        if self.failures >= self.schedule.failures_allowed {
            return self.lose(LossReason::RenewalsFailed { failures: self.failures });
        }
        Step::Nothing
    }

    /// The work has ended: no renewal may follow, and the lease is released when none is under way any more. The
    /// release must be the last request for its owner value, or a renewal could outlive it.
    pub(crate) fn drained(&mut self) -> Step {
        self.phase = Phase::Ending;
        self.release_when_quiet()
    }

    /// The store has answered the release, or has not.
    pub(crate) fn parted(&self, said: Parting) -> Fate {
        match (self.loss, said) {
            (Some(reason), _) => Fate::Lost(reason),
            (None, Parting::Freed) => Fate::Released,
            (None, Parting::NotMine) => Fate::Lost(LossReason::NotMine),
            (None, Parting::Unanswered) => Fate::Unconfirmed,
        }
    }

    pub(crate) fn loss(&self) -> Option<LossReason> {
        self.loss
    }

    /// No renewal is under way any more. What is to be done if its answer does not matter any more.
    fn quiet(&mut self) -> Option<Step> {
        self.in_flight = false;
        match self.phase {
            Phase::Held => None,
            Phase::Lost | Phase::Releasing => Some(Step::Nothing),
            Phase::Ending => Some(self.release_when_quiet()),
        }
    }

    fn release_when_quiet(&mut self) -> Step {
        if self.in_flight {
            return Step::Nothing;
        }
        self.phase = Phase::Releasing;
        Step::Release
    }

    fn lose(&mut self, reason: LossReason) -> Step {
        self.phase = Phase::Lost;
        self.loss = Some(reason);
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
    fn the_release_waits_for_the_last_renewal_and_none_follows() {
        let mut term = term();
        assert_eq!(term.woken(at(110)), Step::Renew);
        assert_eq!(term.drained(), Step::Nothing);
        assert_eq!((term.wake_at(), term.woken(at(111))), (None, Step::Nothing));
        assert_eq!(term.renewed(at(110), 30 * SECOND, at(112)), Step::Release);
        assert_eq!((term.wake_at(), term.woken(at(500))), (None, Step::Nothing));
        let partings = [Parting::Freed, Parting::NotMine, Parting::Unanswered];
        let lost = Fate::Lost(LossReason::NotMine);
        assert_eq!(partings.map(|said| term.parted(said)), [Fate::Released, lost, Fate::Unconfirmed]);
    }

    #[test]
    fn a_lost_lease_stays_lost_whatever_its_release_says() {
        let mut term = term();
        assert_eq!(term.woken(at(200)), Step::Lose(LossReason::Deadline));
        assert_eq!(term.drained(), Step::Release);
        assert_eq!(term.parted(Parting::Freed), Fate::Lost(LossReason::Deadline));
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
        ended: bool,
        released: bool,
    }

    /// Plays one event; whether it can happen now.
    fn play(term: &mut Term, seen: &mut Seen, event: Event) -> bool {
        let answer = matches!(event, Event::Confirmed | Event::Unanswered | Event::NotMine);
        if answer && !term.in_flight || matches!(event, Event::End) && seen.ended {
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
            Event::End => term.drained(),
        };
        let is_calm = matches!(step, Step::Nothing | Step::Release);
        assert!(!seen.over || is_calm, "{event:?} after the end: {step:?}");
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
            Step::Release => {
                assert!(!term.in_flight && !seen.released, "a release beside a renewal, or a second one");
                seen.released = true;
            }
            Step::Nothing => {}
        }
        seen.over |= matches!(event, Event::End);
        seen.ended |= matches!(event, Event::End);
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
                assert!(
                    !seen.ended || seen.released || term.in_flight,
                    "a release that nothing brings about"
                );
                explore(&term, &seen, depth - 1, ends);
            }
        }
        let seen = Seen {
            now: 100,
            sent: 100,
            last_good: 100,
            in_a_row: 0,
            over: false,
            ended: false,
            released: false,
        };
        let mut ends = 0;
        explore(&term(), &seen, 8, &mut ends);
        assert!(ends > 50_000, "only {ends} orders were tried");
    }
}
