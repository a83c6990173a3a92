//! The protocol of a lock as plain data: what workers do to take it, keep it, write under it and give it up,
//! each step with the place that it comes from. It is what the model runs and what an audit lists.

use crate::facts::Location;

/// Everything that the workspace does with one lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protocol {
    /// The key template or the table.
    pub lock: String,
    pub store: Store,
    /// Why it is believed to be a lock; empty when it is none for certain.
    pub evidence: Vec<String>,
    /// Where its table is declared.
    pub declared: Option<Location>,
    /// What ends it when its holder is gone, as far as its declaration shows.
    pub life: Life,
    pub acquires: Vec<Part>,
    pub renewals: Vec<Part>,
    pub releases: Vec<Part>,
    /// What is written to storage because it is held.
    pub writes: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum Store {
    /// A store of keys that end by themselves.
    Keys,
    /// Rows of a database.
    Rows,
    /// A database session.
    Session,
    /// The rows are fenced, and where their tokens come from is not in these sources.
    #[default]
    Elsewhere,
}

/// One way in which a worker does one thing with the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub role: Role,
    /// The function that shows it.
    pub function: String,
    pub steps: Vec<Step>,
    /// Every place of the sources by which a finding may mean it.
    pub places: Vec<Location>,
    /// For renewals: how they are repeated.
    pub rhythm: Rhythm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Acquire,
    Renew,
    Write,
    Release,
}

/// One message to a store, or one act of the process itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    pub command: Command,
    /// `None` where it is assumed, since these sources do not show it.
    pub place: Option<Location>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Asks the store who holds the lock.
    Look,
    Take {
        asks: Asks,
        life: Life,
        owner: Owner,
        token: TokenOf,
        answer: Answer,
    },
    /// Gives the lock a lifetime, or a new one.
    Extend {
        asks: Asks,
        life: Life,
        /// It makes the lock anew where it is gone.
        revives: bool,
        answer: Answer,
    },
    Free {
        asks: Asks,
        answer: Answer,
        /// It is the last act of the work, and no part of a renewal.
        is_last: bool,
    },
    /// Whoever was refused the lock before leaves here.
    Decide,
    /// Draws a fencing token in a step of its own.
    Draw(Source),
    /// Asks in the process's own memory whether the lease is still held.
    Check,
    /// Reads what will be written.
    Read,
    /// Reads the row's version, which the write will compare.
    ReadVersion,
    /// Work that writes nothing that these sources show.
    Work,
    Write {
        guard: Guard,
        sets: Sets,
        answer: Answer,
    },
    /// Leaves the function without a release.
    Leave,
    /// The release is in a task that nobody waits for.
    Detach,
}

/// What must hold for a command to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asks {
    Nothing,
    /// What the worker's last look has found: the lock free to take it, its own value to extend or free it.
    Remembered,
    /// What the store holds in the very step.
    Stored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Life {
    /// Nothing ends it.
    Endless,
    /// It ends with the session that took it.
    Session,
    /// It goes back to a pool with its session.
    PooledSession,
    #[default]
    Timed,
    /// A part of the lifetime is lost on its way, so that it may end at once.
    TooShort,
    /// It is a thousand times as long as meant.
    TooLong,
}

impl Life {
    pub fn ends_by_time(self) -> bool {
        matches!(self, Self::Timed | Self::TooShort)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A value of its own for each acquisition, as far as the text shows.
    Own,
    /// The same for all that compete here.
    Shared,
}

/// Where the fencing token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenOf {
    /// The store counts in the very step.
    Take,
    /// The step leaves the count as it was.
    Kept,
    /// A later step draws it.
    Later,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    Counter,
    /// A clock of this machine, or chance.
    Process,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    Heard,
    /// It is heard, and more is sent before it is acted on: see [`Command::Decide`].
    HeardLater,
    Dropped,
    /// An error counts as a yes.
    ErrorIsYes,
}

/// What a write asks of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guard {
    Nothing,
    /// The token is newer than the row's.
    Newer,
    NewerOrSame,
    /// The token is the one that the last acquire gave out.
    Same,
    /// The row is at the version that the writer has read: see [`Command::ReadVersion`].
    SameVersion,
    NotSame,
    /// The wrong way round.
    Older,
    /// The writer is who holds the lock by now.
    Holder,
    /// A comparison that a stale writer passes.
    Loose,
    /// What an earlier, unlocked reading has found newer than the row's.
    RememberedNewer,
    /// A trigger, the transaction or a lock of the row refuses what is stale.
    Elsewhere,
}

/// What a write leaves in the row's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sets {
    Kept,
    Token,
    Raised,
    /// What it was before any of them: the row is made anew, or its token set back.
    First,
}

/// How a renewal is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rhythm {
    /// The pause between two as a part of the TTL, where that is known.
    pub pause: Option<(u32, u32)>,
    pub on_failure: Failure,
    /// How many failures in a row it takes until the work hears of them.
    pub borne: u8,
    pub stops: Stops,
    /// The pause between two renewals.
    pub paused_at: Option<Location>,
    /// An exit of the function that has the renewals' task, where it does not stop it.
    pub left_at: Option<Location>,
    pub repeated: bool,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            pause: None,
            on_failure: Failure::Tells,
            borne: 1,
            stops: Stops::BeforeRelease,
            paused_at: None,
            left_at: None,
            repeated: false,
        }
    }
}

/// What a renewal that fails leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    GoesOn,
    /// The renewals end, and the work does not hear of it.
    Ends,
    /// The work ends.
    Tells,
}

/// When renewals end, apart from failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stops {
    BeforeRelease,
    AfterRelease,
    /// An early exit leaves them running.
    UnlessLeft,
    Never,
}

impl Part {
    pub fn is_at(&self, place: Location) -> bool {
        self.places.contains(&place)
    }
}
