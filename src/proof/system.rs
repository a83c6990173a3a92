//! The transition system of one lock: two workers with the same program, the store that keeps the lock, and a
//! row of a database with a token.
//!
//! Before any step the first worker may be paused or crash, and its renewals may fail; a message that is late is a
//! pause before its step, since a worker waits for each answer. The workers are alike, so it does not matter which
//! of them it is; that both fail in one run is beyond the bounds. A lock with a TTL may end whenever nobody can have
//! renewed it in time. What a step does when it comes is in [`super::effects`].

use super::protocol::{Failure, Life, Rhythm, Step, Stops};
use crate::harm::Harm;

/// Renewals that a worker makes in one run, and failures among them.
const MOST_ROUNDS: u8 = 3;
/// So many failures in a row a holder may bear, and no more.
pub(super) const BEARABLE: u8 = 2;
/// The worker that is paused, crashes or cannot reach the store.
const FALLIBLE: usize = 0;
/// The token of the last holder before the run.
pub(super) const FIRST_TOKEN: u8 = 32;

/// What every worker does.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub main: Vec<Step>,
    /// What it does beside that for as long as it holds the lock.
    pub renewal: Vec<Step>,
    pub rhythm: Rhythm,
    /// How many of the steps take the lock.
    pub acquire: usize,
    /// From this step on the renewals are over, if they end with the work.
    pub release: usize,
}

#[derive(Debug, Clone)]
pub struct System<'p> {
    pub program: &'p Program,
    /// Whether a write may be sent again when its answer is lost.
    pub repeats: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub lock: Option<Held>,
    /// The last token that the store has given out.
    pub counter: u8,
    pub row: Row,
    pub workers: [Worker; 2],
    /// How often the lock was taken.
    pub takes: u8,
}

/// The lock as the store keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    pub by: usize,
    pub owner: u8,
    pub life: Life,
}

/// The protected row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    pub token: u8,
    pub writer: Option<usize>,
    pub writes: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Worker {
    pub phase: Phase,
    /// The next step of its program, and of its renewals.
    pub at: usize,
    pub renewal_at: usize,
    pub seen: Seen,
    /// What its renewals have seen.
    pub renewal_seen: Seen,
    /// Believes that it holds the lock.
    pub believes: bool,
    pub token: u8,
    /// The number of its acquisition; 0 when there was none.
    pub right: u8,
    /// How often the row was written when it began to rely on it.
    pub basis: u8,
    /// The row's token when it read it.
    pub read: u8,
    /// It was paused, or could not reach the store, for longer than the lock lasts.
    pub excused: bool,
    /// The store has told it that it does not hold the lock, or may not.
    pub told: bool,
    /// The store has refused it something, and it has not looked.
    pub unseen: bool,
    pub renews: bool,
    pub rounds: u8,
    pub failures: u8,
    pub has_paused: bool,
    /// The last step was a write whose answer may be lost.
    pub may_repeat: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    Running,
    Paused,
    Crashed,
    /// Its work is over, or it never came to it.
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seen {
    Nothing,
    Free,
    Own,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    /// The worker; for the end of a lock, whose it was.
    pub worker: usize,
    pub what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// The step of its program.
    Step(usize, Effect),
    /// The step of its renewals.
    Renewal(usize, Effect),
    Pauses,
    Crashes,
    /// A renewal gets no answer.
    RenewalFails,
    /// The answer to a renewal is late, so that the worker cannot know more.
    RenewalLate,
    /// The lock's time is over.
    Expires,
    /// The write before is sent again; whether it is accepted.
    Repeats(usize, bool),
    /// The task with the release ends with its runtime.
    TaskLost(usize),
    /// The release gets no answer, and what stands behind it is not done.
    ReleaseFails(usize),
}

/// What has come of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    Saw(Seen),
    Took,
    /// It did what it should.
    Done,
    /// The store, or the worker by itself, has refused.
    Refused,
    /// It found nothing to act on.
    Nothing,
    Drew(u8),
    Ends,
}

#[derive(Debug, Clone)]
pub struct Transition {
    pub event: Event,
    pub state: State,
    pub harms: Vec<Harm>,
}

impl System<'_> {
    pub fn start(&self) -> State {
        let worker = Worker {
            phase: Phase::Running,
            at: 0,
            renewal_at: 0,
            seen: Seen::Nothing,
            renewal_seen: Seen::Nothing,
            believes: false,
            token: FIRST_TOKEN,
            right: 0,
            basis: 0,
            read: 0,
            excused: false,
            told: false,
            unseen: false,
            renews: false,
            rounds: 0,
            failures: 0,
            has_paused: false,
            may_repeat: false,
        };
        let row = Row { token: FIRST_TOKEN - 2, writer: None, writes: 0 };
        State { lock: None, counter: FIRST_TOKEN, row, workers: [worker; 2], takes: 0 }
    }

    /// Everything that may happen next, always in one order.
    pub fn transitions(&self, state: &State) -> Vec<Transition> {
        let mut found = Vec::new();
        for worker in 0..state.workers.len() {
            // The second worker is of no interest before the first has begun: they are alike.
            if worker == 1 && state.workers[0].at == 0 && state.workers[0].phase == Phase::Running {
                continue;
            }
            self.of_worker(state, worker, &mut found);
        }
        if let Some(held) = state.lock.filter(|held| self.may_end(state, *held)) {
            found.push(expiry(state, held));
        }
        found
    }

    fn of_worker(&self, state: &State, worker: usize, found: &mut Vec<Transition>) {
        let own = &state.workers[worker];
        let is_up = matches!(own.phase, Phase::Running | Phase::Paused);
        if is_up && own.at < self.program.main.len() {
            self.step(state, worker, found);
        }
        if own.phase != Phase::Crashed && self.repeats && own.may_repeat {
            found.push(self.repeat(state, worker));
        }
        let renews = own.renews && own.phase != Phase::Crashed && own.rounds < MOST_ROUNDS;
        if renews && !self.program.renewal.is_empty() {
            found.push(self.renew(state, worker));
            if worker == FALLIBLE && own.renewal_at == 0 && own.phase == Phase::Running {
                found.push(self.renewal_fails(state, worker));
                if self.program.rhythm.pause.is_some() && own.failures < BEARABLE {
                    found.push(renewal_is_late(state, worker));
                }
            }
        }
        // A pause, or an end, of somebody who holds nothing and waits for nothing changes nothing.
        let has_begun = own.at > 0 && own.at < self.program.main.len();
        if worker == FALLIBLE && own.phase == Phase::Running && (has_begun || own.renewal_at > 0) {
            if !own.has_paused {
                found.push(pause(state, worker));
            }
            found.push(crash(state, worker));
        }
    }

    fn renewal_fails(&self, state: &State, worker: usize) -> Transition {
        let mut next = state.clone();
        let own = &mut next.workers[worker];
        own.rounds += 1;
        own.failures += 1;
        self.after_failure(own, true);
        let event = Event { worker, what: What::RenewalFails };
        Transition { event, state: next, harms: Vec::new() }
    }

    /// What a failed or refused renewal leads to.
    pub(super) fn after_failure(&self, own: &mut Worker, may_bear: bool) {
        let rhythm = &self.program.rhythm;
        match rhythm.on_failure {
            Failure::Tells if !may_bear || own.failures >= rhythm.borne => own.phase = Phase::Done,
            Failure::Tells | Failure::GoesOn => own.told |= !may_bear || own.failures > BEARABLE,
            Failure::Ends => {
                own.renews = false;
                own.told = true;
            }
        }
        if own.phase == Phase::Done {
            own.renews = false;
            own.believes = false;
        }
    }

    /// Whether the lock may end by its time now.
    fn may_end(&self, state: &State, held: Held) -> bool {
        let holder = &state.workers[held.by];
        let is_renewed = holder.renews && !self.program.renewal.is_empty();
        match (held.life, holder.phase) {
            (Life::TooShort, _) => true,
            (Life::Timed, Phase::Paused | Phase::Crashed) => true,
            (Life::Timed, Phase::Done) => !holder.renews,
            (Life::Timed, Phase::Running) => {
                let started = holder.right > 0 && self.program.rhythm.repeated;
                (is_renewed && self.comes_too_late(holder)) || (started && !holder.renews && holder.told)
            }
            _ => false,
        }
    }

    /// Whether the next renewal would come behind the end of the lock, or no further one gets through. Failures
    /// are counted up to one more than may be borne; that stands for any number.
    fn comes_too_late(&self, holder: &Worker) -> bool {
        let rhythm = &self.program.rhythm;
        let is_too_late = |rounds: u8| {
            rhythm.pause.map(|(part, whole)| u64::from(rounds) * u64::from(part) > u64::from(whole))
        };
        if holder.failures <= BEARABLE {
            return is_too_late(holder.failures + 1).unwrap_or(false);
        }
        rhythm.on_failure != Failure::Tells || is_too_late(rhythm.borne).unwrap_or(true)
    }

    /// Whether the renewals are over when a worker has come to this step.
    pub(super) fn ends_renewals(&self, at: usize, has_left: bool) -> bool {
        let is_over = at >= self.program.main.len();
        match self.program.rhythm.stops {
            Stops::BeforeRelease => has_left || at >= self.program.release,
            Stops::AfterRelease => is_over && !has_left,
            Stops::UnlessLeft => !has_left && at >= self.program.release,
            Stops::Never => false,
        }
    }
}

fn renewal_is_late(state: &State, worker: usize) -> Transition {
    let mut next = state.clone();
    next.workers[worker].rounds += 1;
    next.workers[worker].failures += 1;
    Transition { event: Event { worker, what: What::RenewalLate }, state: next, harms: Vec::new() }
}

fn pause(state: &State, worker: usize) -> Transition {
    let mut next = state.clone();
    next.workers[worker].phase = Phase::Paused;
    next.workers[worker].has_paused = true;
    Transition { event: Event { worker, what: What::Pauses }, state: next, harms: Vec::new() }
}

fn crash(state: &State, worker: usize) -> Transition {
    let mut next = state.clone();
    next.workers[worker].phase = Phase::Crashed;
    next.workers[worker].renews = false;
    next.workers[worker].believes = false;
    if next
        .lock
        .is_some_and(|held| held.by == worker && matches!(held.life, Life::Session | Life::PooledSession))
    {
        next.lock = None;
    }
    Transition { event: Event { worker, what: What::Crashes }, state: next, harms: Vec::new() }
}

fn expiry(state: &State, held: Held) -> Transition {
    let mut next = state.clone();
    next.lock = None;
    let holder = &mut next.workers[held.by];
    let is_away = matches!(holder.phase, Phase::Paused | Phase::Crashed);
    holder.excused |= is_away || holder.failures > BEARABLE;
    Transition { event: Event { worker: held.by, what: What::Expires }, state: next, harms: Vec::new() }
}
