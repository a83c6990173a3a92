//! What the steps of a worker do when they reach the store or the database: the semantics of the model.
//!
//! They are those of the servers: a SET with NX acts on a free key alone, a script compares and acts in one step,
//! a command of its own acts on whatever is stored by then, a statement changes the rows that its condition
//! finds. `tests/proof_on_servers.rs` holds runs of the model against real ones.

use super::protocol::{Answer, Asks, Command, Guard, Life, Owner, Sets, Source, Stops, TokenOf};
use super::system::{Effect, Event, FIRST_TOKEN, Held, Phase, Seen, State, System, Transition, What, Worker};
use crate::harm::Harm;

/// One command on its way: who sends it, and what has come of it so far.
struct Act<'s> {
    state: &'s mut State,
    worker: usize,
    harms: Vec<Harm>,
    /// It is one of the renewals.
    is_renewal: bool,
}

impl System<'_> {
    /// The next step of a worker's program, in every way in which it can end.
    pub(super) fn step(&self, state: &State, worker: usize, found: &mut Vec<Transition>) {
        let at = state.workers[worker].at;
        let command = self.program.main[at].command;
        match command {
            Command::Draw(Source::Process) => {
                for more in [1, 2] {
                    let mut next = state.clone();
                    next.workers[worker].token = FIRST_TOKEN + more;
                    let effect = Effect::Drew(FIRST_TOKEN + more);
                    found.push(self.ended(next, worker, at, effect, Vec::new()));
                }
            }
            Command::Leave => {
                found.push(self.left(state.clone(), worker, What::Step(at, Effect::Ends), true));
                found.push(self.ended(state.clone(), worker, at, Effect::Nothing, Vec::new()));
            }
            Command::Detach => {
                found.push(self.ended(state.clone(), worker, at, Effect::Done, Vec::new()));
                found.push(self.left(state.clone(), worker, What::TaskLost(at), true));
            }
            _ => {
                found.push(self.acted(state.clone(), worker, at, command));
                let is_release = matches!(command, Command::Free { .. }) && at >= self.program.release;
                if is_release && self.program.rhythm.stops == Stops::AfterRelease {
                    found.push(self.left(state.clone(), worker, What::ReleaseFails(at), true));
                }
                if let Command::Take { answer: Answer::ErrorIsYes, .. } = command {
                    let mut next = state.clone();
                    next.workers[worker].told = true;
                    found.push(self.ended(next, worker, at, Effect::Nothing, Vec::new()));
                }
            }
        }
    }

    fn acted(&self, mut next: State, worker: usize, at: usize, command: Command) -> Transition {
        let mut act = Act { state: &mut next, worker, harms: Vec::new(), is_renewal: false };
        let (effect, goes_on) = act.run(command);
        let harms = act.harms;
        if goes_on {
            let can_repeat = matches!(command, Command::Write { .. }) && effect == Effect::Done;
            next.workers[worker].may_repeat = can_repeat;
            self.ended(next, worker, at, effect, harms)
        } else {
            Transition { harms, ..self.left(next, worker, What::Step(at, effect), false) }
        }
    }

    /// The worker goes on to its next step.
    fn ended(
        &self,
        mut next: State,
        worker: usize,
        at: usize,
        effect: Effect,
        mut harms: Vec<Harm>,
    ) -> Transition {
        let own = &mut next.workers[worker];
        own.phase = Phase::Running;
        own.at = at + 1;
        if own.at == self.program.acquire && own.believes {
            own.renews = !self.program.renewal.is_empty();
        }
        if self.ends_renewals(own.at, false) {
            own.renews = false;
        }
        if own.at == self.program.main.len() {
            own.phase = Phase::Done;
            own.believes = false;
            if own.unseen {
                harms.push(Harm::LossUnseen);
            }
            // A connection of its own is closed with the work.
            if next.lock.is_some_and(|held| held.by == worker && held.life == Life::Session) {
                next.lock = None;
            }
        }
        Transition { event: Event { worker, what: What::Step(at, effect) }, state: next, harms }
    }

    /// The worker's work ends here.
    fn left(&self, mut next: State, worker: usize, what: What, has_left: bool) -> Transition {
        let own = &mut next.workers[worker];
        own.phase = Phase::Done;
        own.believes = false;
        if !has_left || self.ends_renewals(own.at, true) {
            own.renews = false;
        }
        Transition { event: Event { worker, what }, state: next, harms: Vec::new() }
    }

    /// The next step of a worker's renewals.
    pub(super) fn renew(&self, state: &State, worker: usize) -> Transition {
        let mut next = state.clone();
        let at = next.workers[worker].renewal_at;
        if next.workers[worker].phase == Phase::Paused {
            next.workers[worker].phase = Phase::Running;
        }
        let mut act = Act { state: &mut next, worker, harms: Vec::new(), is_renewal: true };
        let (effect, goes_on) = act.run(self.program.renewal[at].command);
        let harms = act.harms;
        let own = &mut next.workers[worker];
        own.renewal_at = at + 1;
        if own.renewal_at == self.program.renewal.len() || !goes_on {
            own.renewal_at = 0;
            own.rounds += 1;
            own.failures = 0;
        }
        if !goes_on {
            self.after_failure(own, false);
        }
        Transition { event: Event { worker, what: What::Renewal(at, effect) }, state: next, harms }
    }

    /// The answer of the last write was lost, and the worker sends it again.
    pub(super) fn repeat(&self, state: &State, worker: usize) -> Transition {
        let mut next = state.clone();
        let at = next.workers[worker].at - 1;
        let command = self.program.main[at].command;
        let mut act = Act { state: &mut next, worker, harms: Vec::new(), is_renewal: false };
        let (effect, _) = act.run(command);
        let is_accepted = effect == Effect::Done;
        next.workers[worker].may_repeat = false;
        let harms = if is_accepted { vec![Harm::AppliedTwice] } else { Vec::new() };
        Transition { event: Event { worker, what: What::Repeats(at, is_accepted) }, state: next, harms }
    }
}

impl Act<'_> {
    /// What comes of a command, and whether its sender goes on.
    fn run(&mut self, command: Command) -> (Effect, bool) {
        match command {
            Command::Look => {
                let seen = self.look();
                match self.is_renewal {
                    true => self.own().renewal_seen = seen,
                    false => self.own().seen = seen,
                }
                (Effect::Saw(seen), true)
            }
            Command::Take { asks, life, owner, token, answer } => self.take(asks, life, owner, token, answer),
            Command::Extend { asks, life, revives, answer } => self.extend(asks, life, revives, answer),
            Command::Free { asks, answer, is_last } => self.free(asks, answer, is_last),
            Command::Decide if self.own().believes => (Effect::Done, true),
            Command::Decide => {
                self.judge_refusal();
                (Effect::Refused, false)
            }
            Command::Draw(_) => {
                self.state.counter += 1;
                let token = self.state.counter;
                self.own().token = token;
                (Effect::Drew(token), true)
            }
            Command::Check => match self.holds() {
                true => (Effect::Done, true),
                false => (Effect::Refused, false),
            },
            Command::Read => {
                let row = self.state.row;
                let own = self.own();
                own.basis = row.writes;
                own.read = row.token;
                (Effect::Drew(row.token), true)
            }
            Command::ReadVersion => {
                let row = self.state.row;
                let own = self.own();
                own.basis = row.writes;
                own.token = row.token;
                (Effect::Drew(row.token), true)
            }
            Command::Work => {
                self.works();
                (Effect::Done, true)
            }
            Command::Write { guard, sets, answer } => self.write(guard, sets, answer),
            Command::Leave | Command::Detach => (Effect::Done, true),
        }
    }

    fn own(&mut self) -> &mut Worker {
        &mut self.state.workers[self.worker]
    }

    fn holds(&self) -> bool {
        self.state.lock.is_some_and(|held| held.by == self.worker)
    }

    /// The value that the worker stores and compares: with shared values every worker sees its own.
    fn look(&self) -> Seen {
        match self.state.lock {
            None => Seen::Free,
            Some(held) if held.owner == self.value_of(held) => Seen::Own,
            Some(_) => Seen::Other,
        }
    }

    fn value_of(&self, held: Held) -> u8 {
        if held.owner == SHARED { SHARED } else { u8::try_from(self.worker).unwrap_or(u8::MAX) }
    }

    fn seen(&self) -> Seen {
        let own = &self.state.workers[self.worker];
        if self.is_renewal { own.renewal_seen } else { own.seen }
    }

    /// Whether a command that frees or extends the lock acts on what is stored.
    fn acts(&self, asks: Asks) -> bool {
        match asks {
            Asks::Nothing => true,
            Asks::Remembered => self.seen() == Seen::Own,
            Asks::Stored => self.look() == Seen::Own,
        }
    }

    fn take(
        &mut self,
        asks: Asks,
        life: Life,
        owner: Owner,
        token: TokenOf,
        answer: Answer,
    ) -> (Effect, bool) {
        let can = match asks {
            Asks::Nothing => true,
            Asks::Remembered => self.seen() == Seen::Free,
            Asks::Stored => self.state.lock.is_none(),
        };
        if !can {
            if answer != Answer::HeardLater {
                self.judge_refusal();
            }
            return match answer {
                Answer::Dropped => {
                    self.own().told = true;
                    (Effect::Refused, true)
                }
                Answer::HeardLater => (Effect::Refused, true),
                Answer::Heard | Answer::ErrorIsYes => (Effect::Refused, false),
            };
        }
        self.judge_take();
        let owner = match owner {
            Owner::Own => u8::try_from(self.worker).unwrap_or(u8::MAX),
            Owner::Shared => SHARED,
        };
        self.state.lock = Some(Held { by: self.worker, owner, life });
        self.state.takes += 1;
        if token == TokenOf::Take {
            self.state.counter += 1;
        }
        let (counter, right, basis) = (self.state.counter, self.state.takes, self.state.row.writes);
        let own = self.own();
        if token != TokenOf::Later {
            own.token = counter;
        }
        own.believes = true;
        own.right = right;
        own.basis = basis;
        own.excused = false;
        (Effect::Took, true)
    }

    /// Another worker has the lock, or believes so, without having overslept it.
    fn judge_take(&mut self) {
        let other = &self.state.workers[1 - self.worker];
        let is_there = matches!(other.phase, Phase::Running | Phase::Paused);
        let believes = other.believes && !other.excused && !other.told && is_there;
        let overwrites = self.state.lock.is_some_and(|held| held.by != self.worker) && is_there;
        if believes || overwrites {
            self.harms.push(Harm::TwoHolders);
        }
    }

    /// Somebody else is refused the lock: will it ever be free?
    fn judge_refusal(&mut self) {
        let Some(held) = self.state.lock else { return };
        let holder = &self.state.workers[held.by];
        if held.by == self.worker || matches!(holder.phase, Phase::Running | Phase::Paused) {
            return;
        }
        let is_over = holder.phase == Phase::Done;
        match held.life {
            Life::Endless | Life::TooLong => self.harms.push(Harm::HeldForEver),
            Life::Session | Life::PooledSession if is_over => self.harms.push(Harm::HeldForEver),
            Life::Timed | Life::TooShort if is_over && !holder.renews => self.harms.push(Harm::HeldAfterWork),
            _ => {}
        }
    }

    fn extend(&mut self, asks: Asks, life: Life, revives: bool, answer: Answer) -> (Effect, bool) {
        let is_heard = answer == Answer::Heard;
        let is_over = self.is_over();
        match self.state.lock {
            None if revives && (asks != Asks::Remembered || self.seen() == Seen::Own) => {
                let owner = u8::try_from(self.worker).unwrap_or(u8::MAX);
                self.state.lock = Some(Held { by: self.worker, owner, life });
                if is_over {
                    self.harms.push(Harm::KeptAfterWork);
                }
                (Effect::Took, true)
            }
            None => {
                self.own().unseen |= !is_heard;
                (Effect::Nothing, !is_heard || !self.is_renewal)
            }
            Some(_) if !self.acts(asks) => {
                self.own().unseen |= !is_heard;
                (Effect::Refused, !is_heard || !self.is_renewal)
            }
            Some(held) => {
                self.state.lock = Some(Held { life, ..held });
                if held.by != self.worker {
                    self.harms.push(Harm::ForeignRenewal);
                } else if is_over {
                    self.harms.push(Harm::KeptAfterWork);
                }
                (Effect::Done, true)
            }
        }
    }

    fn is_over(&self) -> bool {
        let own = &self.state.workers[self.worker];
        self.is_renewal && (own.phase == Phase::Done || !own.believes)
    }

    fn free(&mut self, asks: Asks, answer: Answer, is_last: bool) -> (Effect, bool) {
        if is_last {
            self.own().believes = false;
        }
        let effect = match self.state.lock {
            None => Effect::Nothing,
            Some(_) if !self.acts(asks) => Effect::Refused,
            Some(held) => {
                self.state.lock = None;
                if held.by != self.worker {
                    self.harms.push(Harm::ForeignRelease);
                }
                Effect::Done
            }
        };
        if effect != Effect::Done && answer == Answer::Dropped {
            self.own().unseen = true;
        }
        (effect, true)
    }

    /// Work by somebody who has been told that the lock is not his.
    fn works(&mut self) {
        if self.state.workers[self.worker].told && !self.holds() {
            self.harms.push(Harm::WorksUnheld);
        }
    }

    fn write(&mut self, guard: Guard, sets: Sets, answer: Answer) -> (Effect, bool) {
        self.works();
        let own = self.state.workers[self.worker];
        if !self.accepts(guard) {
            // Whoever has read the version that the row still has must be let in as well.
            let is_newest = self.holds() && own.right == self.state.takes;
            if is_newest || (own.right == 0 && self.state.row.writes == own.basis) {
                self.harms.push(Harm::HolderRefused);
            }
            self.own().unseen |= answer == Answer::Dropped;
            return (Effect::Refused, answer == Answer::Dropped);
        }
        if self.is_stale() {
            self.harms.push(Harm::StaleWrite);
        }
        let row = &mut self.state.row;
        row.token = match sets {
            Sets::Kept => row.token,
            Sets::Token => own.token,
            Sets::Raised => row.token.saturating_add(1),
            Sets::First => FIRST_TOKEN - 2,
        };
        row.writer = Some(self.worker);
        row.writes += 1;
        (Effect::Done, true)
    }

    /// Whether a successor has written since the worker was given the row, or has read it.
    fn is_stale(&self) -> bool {
        let (row, own) = (&self.state.row, &self.state.workers[self.worker]);
        row.writer.filter(|writer| *writer != self.worker).is_some_and(|writer| {
            let is_newer = own.right == 0 || self.state.workers[writer].right > own.right;
            row.writes > own.basis && is_newer
        })
    }

    fn accepts(&self, guard: Guard) -> bool {
        let (row, own) = (&self.state.row, &self.state.workers[self.worker]);
        match guard {
            Guard::Nothing | Guard::Loose => true,
            Guard::Newer => row.token < own.token,
            Guard::NewerOrSame => row.token <= own.token,
            Guard::Same => own.token == self.state.counter,
            Guard::SameVersion => row.token == own.token,
            Guard::NotSame => row.token != own.token,
            Guard::Older => row.token > own.token,
            Guard::Holder => self.look() == Seen::Own,
            Guard::Elsewhere => !self.is_stale(),
            Guard::RememberedNewer => own.read < own.token,
        }
    }
}

/// The value that all workers store.
const SHARED: u8 = u8::MAX;
