//! Two holders and a store of leases. Time goes in milliseconds, and is the holders'; the store's clock may run faster
//! by as much as the drift margin covers.

mod promises;
mod steps;

use std::time::Duration;

use leasehold::clock::Moment;
use leasehold::store::memory::MemoryStore;
use leasehold::{Leases, LossReason, Settings};
use stateright::{Model, Property};

use crate::term::{Fate, Schedule, Step, Term};

use self::promises::{possibilities, promises};

const TTL: u8 = 7;
const ATTEMPT: u8 = 1;
/// By how much the store may end a lease too early, in the holders' time.
const DRIFT: u8 = 1;
const HOLDERS: usize = 2;
const RIVAL: usize = 1;

fn at(now: u8) -> Moment {
    Moment::from_nanoseconds(u64::from(now) * 1_000_000)
}

fn span(milliseconds: u8) -> Duration {
    Duration::from_millis(u64::from(milliseconds))
}

/// How large the world is, and what is wrong with it.
pub struct Scope {
    schedule: Schedule,
    mistake: Option<Mistake>,
    /// The second holder is seen only as the store sees it.
    rival: bool,
    horizon: u8,
    /// How often a process may be paused or crash.
    faults: u8,
}

/// A check that is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing is left for a clock of the store that runs faster.
    NoMargin,
    /// The deadline is counted from the answer.
    CountsFromTheAnswer,
    /// Only answers end a lease, not the clock.
    NoDeadline,
    /// The release does not wait for the renewal under way, and the store compares nothing when it renews.
    ReleaseBesideRenewal,
    /// Renewals go on after the release.
    RenewsAfterRelease,
    /// The lease is given back although a transaction under it is still open.
    ReleaseBeforeRollback,
    /// The store renews for whoever asks, also what has ended.
    BlindRenewal,
    /// The store frees the key whoever asks.
    BlindRelease,
    /// A release without an answer counts as done.
    SilenceIsRelease,
}

impl Mistake {
    pub const ALL: [Self; 9] = [
        Self::NoMargin,
        Self::CountsFromTheAnswer,
        Self::NoDeadline,
        Self::ReleaseBesideRenewal,
        Self::RenewsAfterRelease,
        Self::ReleaseBeforeRollback,
        Self::BlindRenewal,
        Self::BlindRelease,
        Self::SilenceIsRelease,
    ];
}

impl Scope {
    /// Two holders with all that they have.
    pub fn two_holders(horizon: u8, faults: u8) -> Self {
        let schedule = (&settings(DRIFT, 1)).into();
        Self { schedule, mistake: None, rival: false, horizon, faults }
    }

    /// One holder, and somebody who may take the lease whenever the store gives it; that can be explored for longer.
    pub fn holder_and_rival(horizon: u8, faults: u8) -> Self {
        Self { rival: true, ..Self::two_holders(horizon, faults) }
    }

    pub fn with(mistake: Mistake) -> Self {
        let margins = if mistake == Mistake::NoMargin { (0, 0) } else { (DRIFT, 1) };
        Self {
            schedule: (&settings(margins.0, margins.1)).into(),
            mistake: Some(mistake),
            ..Self::holder_and_rival(8, 1)
        }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }
}

/// What the real builder makes of these wishes, checked as all are.
fn settings(drift: u8, stop: u8) -> Settings {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let _inside = runtime.enter();
    let builder = Leases::builder(MemoryStore::new())
        .ttl(span(TTL))
        .renew_every(span(2))
        .failures_allowed(2)
        .drift_margin(span(drift))
        .stop_margin(span(stop))
        .attempt_timeout(span(ATTEMPT));
    builder.build().expect("the settings are right").settings().clone()
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    now: u8,
    /// Whose the key is in the store, and when that may end at the earliest.
    lease: Option<(Owner, u8)>,
    /// Requests that the store has not seen yet, and answers. What is never delivered is lost.
    letters: Vec<Letter>,
    holders: [Holder; HOLDERS],
    faults: u8,
    /// Whose grant the store has ended, by its time or by a release.
    ended: [bool; HOLDERS],
    /// The store has ended a grant for somebody else's release.
    robbed: bool,
    /// A renewal was sent for a lease that its work had lost.
    kept_in_vain: bool,
    /// A holder was told that its lease was held to the end, which its keeper knew as lost.
    misled: bool,
    /// What holders were told in the end.
    told: [Option<Fate>; HOLDERS],
}

/// One acquisition; each holder makes one.
type Owner = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Ask {
    Acquire,
    Renew,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Said {
    Granted,
    Held,
    Renewed,
    Freed,
    NotMine,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Letter {
    owner: Owner,
    ask: Ask,
    /// Whether its sender still waits for an answer.
    waited: bool,
    said: Option<Said>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Holder {
    awake: bool,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Stage {
    Idle,
    /// `gone` when whoever asked for the lease has been dropped.
    Acquiring {
        sent: u8,
        gone: bool,
    },
    /// An acquire without answer may have been executed.
    TakingBack {
        sent: u8,
    },
    Held(Holding),
    Over,
}

/// A lease as its holder has it: what `Lease`, `Tenure` and the keeper know.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Holding {
    term: Term,
    /// The tenure's own, by which the work judges.
    deadline: Moment,
    loss: Option<LossReason>,
    given_back: bool,
    /// A fenced transaction is under way.
    open: bool,
    drained: bool,
    /// When the renewal or release that is waited for was sent.
    renewing: Option<u8>,
    releasing: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Tick,
    /// The store ends the grant whose time is over.
    Expire,
    /// The store sees a request.
    Execute(usize),
    Acquire(usize),
    /// The future that acquires is dropped, or has waited long enough.
    Abandon(usize),
    Answer(usize, usize),
    /// The connection breaks, or the limit of the request is over.
    Unanswered(usize),
    /// The keeper's timer.
    Wake(usize),
    /// The work asks whether it may go on.
    Check(usize),
    /// The lease is released or dropped, or the future of `run` is.
    GiveBack(usize),
    /// The transaction is committed or rolled back.
    EndWork(usize),
    Drain(usize),
    Pause(usize),
    Resume(usize),
    Crash(usize),
    /// The rival gets the lease, and gives it back.
    Seize,
    Yield,
}

impl World {
    fn holding(&self, who: usize) -> Option<&Holding> {
        match &self.holders[who].stage {
            Stage::Held(holding) => Some(holding),
            _ => None,
        }
    }

    /// What `Tenure::check` says.
    fn believes(&self, who: usize) -> bool {
        self.holding(who).is_some_and(|one| one.loss.is_none() && at(self.now) < one.deadline)
    }

    fn has(&self, who: usize) -> bool {
        self.lease.is_some_and(|(owner, _)| owner == who)
    }

    /// The limit of a request that is waited for.
    fn limit(&self, who: usize) -> Option<u8> {
        match &self.holders[who].stage {
            Stage::Acquiring { sent, .. } => Some(sent + TTL),
            Stage::TakingBack { sent } => Some(sent + ATTEMPT),
            Stage::Held(one) => one.renewing.or(one.releasing).map(|sent| sent + ATTEMPT),
            Stage::Idle | Stage::Over => None,
        }
    }

    /// Whether a timer of a process that runs has gone off.
    fn is_due(&self, who: usize) -> bool {
        let woken =
            self.holding(who).and_then(|one| one.term.wake_at()).is_some_and(|then| then <= at(self.now));
        woken || self.limit(who).is_some_and(|limit| limit <= self.now)
    }

    fn send(&mut self, owner: Owner, ask: Ask) {
        self.letters.push(Letter { owner, ask, waited: true, said: None });
    }

    /// Nobody waits any more for what this holder has asked.
    fn forget(&mut self, who: usize) {
        self.letters.retain(|letter| letter.owner != who || letter.said.is_none());
        self.letters.iter_mut().filter(|letter| letter.owner == who).for_each(|letter| letter.waited = false);
    }

    /// Requests that no store obeys any more, whenever it sees them, and whose answer nobody waits for.
    fn drop_what_has_no_effect(&mut self) {
        let mut may_have = [0, 1].map(|who| self.has(who));
        for letter in &self.letters {
            may_have[letter.owner] |= letter.ask == Ask::Acquire && letter.said.is_none();
        }
        self.letters.retain(|letter| letter.waited || letter.ask == Ask::Acquire || may_have[letter.owner]);
    }

    fn is_waited_for(&self, who: usize, ask: Ask) -> bool {
        self.letters.iter().any(|letter| letter.owner == who && letter.ask == ask && letter.waited)
    }
}

impl Scope {
    fn acts_of(&self, world: &World, who: usize, acts: &mut Vec<Act>) {
        let holder = &world.holders[who];
        if !holder.awake {
            acts.push(Act::Resume(who));
            return;
        }
        let answers = world.letters.iter().enumerate();
        let answers = answers.filter(|(_, letter)| letter.owner == who && letter.said.is_some());
        acts.extend(answers.map(|(place, _)| Act::Answer(who, place)));
        if world.limit(who).is_some() {
            acts.push(Act::Unanswered(who));
        }
        match &holder.stage {
            // The first one asks first: they are alike.
            Stage::Idle if who == 0 || world.holders[0].stage != Stage::Idle => acts.push(Act::Acquire(who)),
            Stage::Acquiring { gone: false, .. } => acts.push(Act::Abandon(who)),
            Stage::Held(one) => {
                if one.term.wake_at().is_some_and(|then| then <= at(world.now)) {
                    acts.push(Act::Wake(who));
                }
                if !one.given_back {
                    acts.push(Act::GiveBack(who));
                }
                if one.loss.is_none() && !world.believes(who) {
                    acts.push(Act::Check(who));
                }
                if one.open {
                    acts.push(Act::EndWork(who));
                }
                let may_drain = !one.open || self.has(Mistake::ReleaseBeforeRollback);
                if one.given_back && may_drain && !one.drained {
                    acts.push(Act::Drain(who));
                }
            }
            _ => {}
        }
        if world.faults > 0 && !matches!(holder.stage, Stage::Idle | Stage::Over) {
            acts.extend([Act::Pause(who), Act::Crash(who)]);
        }
    }
}

impl Model for Scope {
    type State = World;
    type Action = Act;

    fn init_states(&self) -> Vec<World> {
        let holder = Holder { awake: true, stage: Stage::Idle };
        vec![World {
            now: 0,
            lease: None,
            letters: Vec::new(),
            holders: [holder.clone(), holder],
            faults: self.faults,
            ended: [false; HOLDERS],
            robbed: false,
            kept_in_vain: false,
            misled: false,
            told: [None; HOLDERS],
        }]
    }

    fn actions(&self, world: &World, acts: &mut Vec<Act>) {
        let is_due = |who: usize| world.holders[who].awake && world.is_due(who);
        if world.now < self.horizon && !(0..HOLDERS).any(is_due) {
            acts.push(Act::Tick);
        }
        if world.lease.is_some_and(|(_, ends)| ends <= world.now) {
            acts.push(Act::Expire);
        }
        let unseen = world.letters.iter().enumerate().filter(|(_, letter)| letter.said.is_none());
        acts.extend(unseen.map(|(place, _)| Act::Execute(place)));
        if self.rival {
            let taken = world.has(RIVAL);
            acts.extend((world.lease.is_none() && !world.ended[RIVAL]).then_some(Act::Seize));
            acts.extend(taken.then_some(Act::Yield));
        }
        for who in 0..if self.rival { RIVAL } else { HOLDERS } {
            self.acts_of(world, who, acts);
        }
    }

    fn next_state(&self, before: &World, act: Act) -> Option<World> {
        let mut world = before.clone();
        let now = world.now;
        match act {
            Act::Tick => world.now += 1,
            Act::Expire => {
                let (owner, _) = world.lease.take()?;
                world.ended[owner] = true;
            }
            Act::Execute(place) => self.execute(&mut world, place),
            Act::Acquire(who) => {
                world.holders[who].stage = Stage::Acquiring { sent: now, gone: false };
                world.send(who, Ask::Acquire);
            }
            Act::Abandon(who) => {
                let Stage::Acquiring { gone, .. } = &mut world.holders[who].stage else { return None };
                *gone = true;
            }
            Act::Answer(who, place) => self.answer(&mut world, who, place),
            Act::Unanswered(who) => self.unanswered(&mut world, who),
            Act::Wake(who) => {
                let Stage::Held(one) = &mut world.holders[who].stage else { return None };
                let step = one.term.woken(at(now));
                self.apply(&mut world, who, step);
            }
            Act::Check(who) => self.apply(&mut world, who, Step::Lose(LossReason::Deadline)),
            Act::GiveBack(who) => {
                let Stage::Held(one) = &mut world.holders[who].stage else { return None };
                one.given_back = true;
                self.apply(&mut world, who, Step::Lose(LossReason::Released));
            }
            Act::EndWork(who) => {
                let Stage::Held(one) = &mut world.holders[who].stage else { return None };
                one.open = false;
            }
            Act::Drain(who) => self.drain(&mut world, who),
            Act::Pause(who) => {
                world.holders[who].awake = false;
                world.faults -= 1;
            }
            Act::Resume(who) => world.holders[who].awake = true,
            Act::Seize => world.lease = Some((RIVAL, now + TTL - DRIFT)),
            Act::Yield => {
                world.lease = None;
                world.ended[RIVAL] = true;
            }
            Act::Crash(who) => {
                world.holders[who].stage = Stage::Over;
                world.faults -= 1;
                world.forget(who);
            }
        }
        if self.mistake.is_none() {
            world.drop_what_has_no_effect();
        }
        world.letters.sort();
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = promises();
        if self.mistake.is_none() {
            all.extend(possibilities(self.rival));
        }
        all
    }
}
