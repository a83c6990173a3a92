//! Two holders who write the same data under fenced transactions, and believe in their leases as long as they like:
//! here only the storage can stop them. Steps are those that the database does one after the other; between any two
//! of one holder, the other may do anything, and whoever waits for the work may go away.

use stateright::{Model, Property};

const HOLDERS: usize = 2;

/// What is wrong, and whether the store of leases has granted one number twice.
pub struct Scope {
    mistake: Option<Mistake>,
    doubled: bool,
}

/// A check that is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// The holder reads what it will write before it has claimed.
    ReadsBeforeItClaims,
    /// Entering looks at the fence row and does not lock it.
    EntersWithoutLock,
    /// Entering compares the number, and not whose it is.
    ComparesNumbersOnly,
    /// There is no fence row; each write compares the token of the row that it writes.
    TokenOnTheRowOnly,
    /// Whoever is cancelled leaves its transaction to the end of its connection.
    LeavesTheRollbackToDrop,
    /// A cancellation is not looked at before the commit.
    CommitsWhatWasCancelled,
    /// A commit without an answer counts as one that did not happen.
    SilenceIsRollback,
}

impl Mistake {
    pub const ALL: [Self; 7] = [
        Self::ReadsBeforeItClaims,
        Self::EntersWithoutLock,
        Self::ComparesNumbersOnly,
        Self::TokenOnTheRowOnly,
        Self::LeavesTheRollbackToDrop,
        Self::CommitsWhatWasCancelled,
        Self::SilenceIsRollback,
    ];
}

impl Scope {
    pub fn sound() -> Self {
        Self { mistake: None, doubled: false }
    }

    /// The same, when the store of leases has lost its count.
    pub fn doubled() -> Self {
        Self { mistake: None, doubled: true }
    }

    pub fn with(mistake: Mistake) -> Self {
        Self { mistake: Some(mistake), doubled: mistake == Mistake::ComparesNumbersOnly }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn token(&self, who: usize) -> u8 {
        if self.doubled { 1 } else { u8::try_from(who).unwrap_or(u8::MAX) + 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct World {
    /// The newest claim: its token and whose it is.
    claim: (u8, Option<usize>),
    /// Whose transaction has the fence row.
    lock: Option<usize>,
    /// How many writes there are, and the token of the last one.
    version: u8,
    written_with: u8,
    holders: [Holder; HOLDERS],
    harm: Option<Harm>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Harm {
    /// A write came after one with a newer token.
    OlderToken,
    /// A write came after the claim of another lease that was not older.
    AfterClaim,
    /// A write was made on the ground of what was not the last one.
    LostUpdate,
    /// A write whose task was cancelled before its commit is there.
    CancelledAndThere,
    /// The holder was told otherwise than it is.
    ToldWrongly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Holder {
    stage: Stage,
    claimed: bool,
    /// The version that it has read.
    seen: Option<u8>,
    /// Whoever waited for the work has gone.
    cancelled: bool,
    /// The commit had no answer.
    asked: bool,
    /// What the server has of its transaction.
    session: Session,
    told: Option<Told>,
    /// Given back, so that another holder may be granted it.
    released: bool,
}

/// Where the holder's own code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Idle,
    Working,
    Entered,
    Wrote,
    /// The commit was sent.
    Committing,
    /// Its connection has broken, and it asks the fence row what became of it.
    Asking,
    RollingBack,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Session {
    None,
    Open,
    Committed,
    RolledBack,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Told {
    Committed,
    RolledBack,
    Stale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The lease is granted; the first holder may still believe in its own.
    Grant(usize),
    Claim(usize),
    Read(usize),
    Enter(usize),
    Write(usize),
    /// The holder sends the commit.
    Commit(usize),
    /// The server does it.
    Execute(usize),
    /// Its answer arrives.
    Answer(usize),
    /// The connection breaks; the server finds out some time, unless the commit came before.
    Break(usize),
    /// The server ends a session whose client has gone.
    EndSession(usize),
    /// The fence row says what became of the commit.
    FindOut(usize),
    /// The future of the transaction is dropped, at whatever it awaits.
    Cancel(usize),
    /// The task behind it rolls back.
    RollBack(usize),
    Release(usize),
}

impl Scope {
    /// Whether the storage lets this holder in.
    fn is_let_in(&self, world: &World, who: usize) -> bool {
        let token = self.token(who);
        match self.mistake {
            Some(Mistake::TokenOnTheRowOnly) => world.written_with <= token,
            Some(Mistake::ComparesNumbersOnly) => world.claim.0 == token,
            _ => world.claim == (token, Some(who)),
        }
    }

    /// The first step of a transaction: the change of the fence row, which waits for whoever has it.
    fn enter(&self, world: &mut World, who: usize) {
        if !self.is_let_in(world, who) {
            let holder = &mut world.holders[who];
            (holder.stage, holder.told) = (Stage::Done, Some(Told::Stale));
            return;
        }
        if !self.has(Mistake::EntersWithoutLock) && !self.has(Mistake::TokenOnTheRowOnly) {
            world.lock = Some(who);
        }
        let holder = &mut world.holders[who];
        (holder.stage, holder.session) = (Stage::Entered, Session::Open);
    }

    /// The commit, judged as it happens.
    fn commit(&self, world: &mut World, who: usize) {
        let (token, holder) = (self.token(who), world.holders[who]);
        let (claimed, by) = world.claim;
        let harm = if token < world.written_with {
            Some(Harm::OlderToken)
        } else if by.is_some_and(|by| by != who) && claimed >= token {
            Some(Harm::AfterClaim)
        } else if holder.seen != Some(world.version) {
            Some(Harm::LostUpdate)
        } else if holder.cancelled && self.has(Mistake::CommitsWhatWasCancelled) {
            Some(Harm::CancelledAndThere)
        } else {
            None
        };
        world.harm = world.harm.or(harm);
        world.version += 1;
        world.written_with = token;
        world.end_session(who, Session::Committed);
    }

    fn tell(world: &mut World, who: usize, told: Told) {
        let holder = &mut world.holders[who];
        (holder.stage, holder.told) = (Stage::Done, Some(told));
        let is_there = holder.session == Session::Committed;
        if is_there != (told == Told::Committed) {
            world.harm = world.harm.or(Some(Harm::ToldWrongly));
        }
    }
}

impl World {
    fn end_session(&mut self, who: usize, how: Session) {
        self.holders[who].session = how;
        if self.lock == Some(who) {
            self.lock = None;
        }
    }

    /// Whether the fence row is free for this holder.
    fn is_free(&self, who: usize) -> bool {
        self.lock.is_none_or(|by| by == who)
    }
}

impl Model for Scope {
    type State = World;
    type Action = Act;

    fn init_states(&self) -> Vec<World> {
        let holder = Holder {
            stage: Stage::Idle,
            claimed: false,
            seen: None,
            cancelled: false,
            asked: false,
            session: Session::None,
            told: None,
            released: false,
        };
        let holders = [holder; HOLDERS];
        vec![World { claim: (0, None), lock: None, version: 0, written_with: 0, holders, harm: None }]
    }

    fn actions(&self, world: &World, acts: &mut Vec<Act>) {
        let reads_first = self.has(Mistake::ReadsBeforeItClaims);
        for (who, holder) in world.holders.iter().enumerate() {
            match holder.stage {
                Stage::Idle => acts.push(Act::Grant(who)),
                Stage::Working if !holder.claimed && (!reads_first || holder.seen.is_some()) => {
                    if world.is_free(who) {
                        acts.push(Act::Claim(who));
                    }
                }
                Stage::Working if holder.seen.is_none() => acts.push(Act::Read(who)),
                Stage::Working if world.is_free(who) => acts.push(Act::Enter(who)),
                Stage::Working => {}
                Stage::Entered => acts.push(Act::Write(who)),
                Stage::Wrote => acts.push(Act::Commit(who)),
                Stage::Committing => {
                    acts.push(if holder.session == Session::Open {
                        Act::Execute(who)
                    } else {
                        Act::Answer(who)
                    });
                    acts.push(Act::Break(who));
                }
                // The server does what was sent, or finds that nobody is there any more.
                Stage::Asking if holder.session == Session::Open => {
                    acts.extend([Act::Execute(who), Act::EndSession(who)]);
                    if self.has(Mistake::SilenceIsRollback) {
                        acts.push(Act::FindOut(who));
                    }
                }
                Stage::Asking => acts.push(Act::FindOut(who)),
                Stage::RollingBack => acts.push(Act::RollBack(who)),
                Stage::Done => {}
            }
            let is_at_work = matches!(holder.stage, Stage::Working | Stage::Entered | Stage::Wrote);
            if is_at_work && !holder.cancelled {
                acts.push(Act::Cancel(who));
            }
            if holder.stage == Stage::Done {
                if !holder.released {
                    acts.push(Act::Release(who));
                }
                if holder.session == Session::Open {
                    acts.push(Act::EndSession(who));
                }
            }
        }
    }

    fn next_state(&self, before: &World, act: Act) -> Option<World> {
        let mut world = *before;
        match act {
            Act::Grant(who) => world.holders[who].stage = Stage::Working,
            Act::Claim(who) => {
                let token = self.token(who);
                if world.claim.0 < token && !self.has(Mistake::TokenOnTheRowOnly) {
                    world.claim = (token, Some(who));
                }
                world.holders[who].claimed = true;
                if !self.is_let_in(&world, who) {
                    (world.holders[who].stage, world.holders[who].told) = (Stage::Done, Some(Told::Stale));
                }
            }
            Act::Read(who) => world.holders[who].seen = Some(world.version),
            Act::Enter(who) => self.enter(&mut world, who),
            Act::Write(who) => world.holders[who].stage = Stage::Wrote,
            Act::Commit(who) => world.holders[who].stage = Stage::Committing,
            Act::Execute(who) => self.commit(&mut world, who),
            Act::Answer(who) => Self::tell(&mut world, who, Told::Committed),
            Act::Break(who) => {
                world.holders[who].asked = true;
                world.holders[who].stage = Stage::Asking;
            }
            Act::EndSession(who) => world.end_session(who, Session::RolledBack),
            Act::FindOut(who) => {
                let is_there = world.holders[who].session == Session::Committed;
                let silent = self.has(Mistake::SilenceIsRollback);
                let told = if is_there && !silent { Told::Committed } else { Told::RolledBack };
                Self::tell(&mut world, who, told);
            }
            Act::Cancel(who) => {
                let holder = &mut world.holders[who];
                holder.cancelled = true;
                if !self.has(Mistake::CommitsWhatWasCancelled) {
                    let leaves =
                        self.has(Mistake::LeavesTheRollbackToDrop) || holder.session == Session::None;
                    holder.stage = if leaves { Stage::Done } else { Stage::RollingBack };
                }
            }
            Act::RollBack(who) => {
                world.end_session(who, Session::RolledBack);
                Self::tell(&mut world, who, Told::RolledBack);
            }
            Act::Release(who) => world.holders[who].released = true,
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::always("tokens of accepted writes never go down", |_, world: &World| {
                world.harm != Some(Harm::OlderToken)
            }),
            Property::always("no write comes after the claim of another lease", |_, world: &World| {
                world.harm != Some(Harm::AfterClaim)
            }),
            Property::always("no update is lost", |_, world: &World| world.harm != Some(Harm::LostUpdate)),
            Property::always("what was cancelled is rolled back", |_, world: &World| {
                world.harm != Some(Harm::CancelledAndThere)
            }),
            Property::always("holders are told what happened", |_, world: &World| {
                world.harm != Some(Harm::ToldWrongly)
            }),
            Property::always("nothing is open under a lease that was given back", |_, world: &World| {
                !world.holders.iter().any(|holder| holder.released && holder.session == Session::Open)
            }),
        ];
        if self.mistake.is_none() {
            all.extend(possibilities(self.doubled));
        }
        all
    }
}

/// Without these the promises would be about an empty world.
fn possibilities(doubled: bool) -> Vec<Property<Scope>> {
    let mut all = vec![
        Property::sometimes("a stale write is refused", |_, world: &World| {
            world.holders[0].told == Some(Told::Stale) && world.holders[1].told == Some(Told::Committed)
        }),
        Property::sometimes("a cancelled transaction is rolled back", |_, world: &World| {
            world.holders[0].cancelled && world.holders[0].session == Session::RolledBack
        }),
        Property::sometimes("a commit without answer is found to have happened", |_, world: &World| {
            world.holders[0].asked && world.holders[0].told == Some(Told::Committed)
        }),
        Property::sometimes("a commit without answer is found not to have happened", |_, world: &World| {
            world.holders[0].asked && world.holders[0].told == Some(Told::RolledBack)
        }),
    ];
    if !doubled {
        all.push(Property::sometimes("both write, one after the other", |_, world: &World| {
            world.holders.iter().all(|holder| holder.told == Some(Told::Committed))
        }));
    }
    all
}
