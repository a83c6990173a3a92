//! Held regions: where a function takes a lock and frees it again, with the exits that leave the region
//! without the release and the writes that come behind it.

mod cancelled;
mod checked_writes;
mod endings;
mod held_writes;
mod late_tokens;
mod left_tasks;
mod retaken;

use std::collections::HashMap;

use super::operation::{Action, Ttl};
use super::rows::{Protection, Purpose, RowWrite, row_writes};
use super::statement::SessionAct;
use super::tables::selects;
use super::timeline::{Exit, Step, StepKind, Timeline};
use super::{Inventory, SqlSite};
use crate::facts::Location;
use crate::facts::sql::{SourceKind, StatementKind, WriteVerb};

/// From an acquire to the release of the same lock, in one function.
#[derive(Debug, Clone)]
pub struct HeldRegion {
    pub lock: String,
    pub function: String,
    pub acquired_at: Location,
    pub released_at: Location,
    /// The lock has a TTL, so that it ends without a release.
    pub ends_by_itself: bool,
    /// Exits that leave it without a release, in the order of the text.
    pub exits: Vec<Location>,
    pub late_writes: Vec<LateWrite>,
    /// There are writes inside, and the store refuses each of them when it is stale.
    pub is_fenced: bool,
}

pub use cancelled::{DroppedTransaction, dropped_transactions};
pub use checked_writes::{CheckedWrite, checked_writes};
pub use endings::{AbruptEnd, abrupt_ends};
pub use held_writes::{HeldWrite, held_writes};
pub use late_tokens::{LateToken, TokenSource, late_tokens};
pub use left_tasks::{LeftKind, LeftWork, left_work};
pub use retaken::{Retaken, retaken_rows};

/// A write behind the release to what was read while the lock was held.
#[derive(Debug, Clone)]
pub struct LateWrite {
    pub location: Location,
    /// The table or key, or `None` for a commit.
    pub target: Option<String>,
    /// Where it was read, or where the transaction began.
    pub read_at: Location,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LockName {
    Key(usize),
    Session,
    Table(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Role {
    Take { lock: LockName, ends_by_itself: bool },
    Free(LockName),
    Read(String),
    Write { target: String, is_fenced: bool },
    Begin,
    Commit,
    Other,
}

/// Every region of every function.
pub(super) fn of(inventory: &Inventory) -> Vec<HeldRegion> {
    let rows = Rows::of(inventory);
    inventory.timelines.iter().flat_map(|timeline| of_timeline(inventory, &rows, timeline)).collect()
}

fn of_timeline(inventory: &Inventory, rows: &Rows<'_>, timeline: &Timeline) -> Vec<HeldRegion> {
    let roles: Vec<Role> = timeline.steps.iter().map(|step| role(inventory, rows, timeline, step)).collect();
    let mut found = Vec::new();
    for (taken, role) in roles.iter().enumerate() {
        let Role::Take { lock, ends_by_itself } = role else { continue };
        if timeline.steps[taken].is_apart {
            continue;
        }
        let frees = |at: &usize| roles[*at] == Role::Free(lock.clone()) && !timeline.steps[*at].is_apart;
        let again = (taken + 1..roles.len()).find(|at| takes(&roles[*at], lock)).unwrap_or(roles.len());
        let freed: Vec<usize> = (taken + 1..again).filter(frees).collect();
        let Some(&last) = freed.last() else { continue };
        let region = Region { timeline, roles: &roles, taken, freed: &freed, last, again };
        found.push(HeldRegion {
            lock: lock.shown(inventory),
            function: timeline.function.clone(),
            acquired_at: timeline.steps[taken].place,
            released_at: timeline.steps[last].place,
            ends_by_itself: *ends_by_itself,
            exits: if freed_by_drop(inventory, lock) || ends_otherwise(inventory, timeline, taken, lock) {
                Vec::new()
            } else {
                region.exits()
            },
            late_writes: region.late_writes(inventory),
            is_fenced: region.is_fenced(),
        });
    }
    found
}

/// A session ends with the program; one that goes back to its pool with the lock is a defect of its own.
fn ends_otherwise(inventory: &Inventory, timeline: &Timeline, taken: usize, lock: &LockName) -> bool {
    let place = timeline.steps[taken].place;
    *lock == LockName::Session
        && (timeline.function == "main" || inventory.left_sessions.iter().any(|left| left.taken_at == place))
}

fn takes(role: &Role, wanted: &LockName) -> bool {
    matches!(role, Role::Take { lock, .. } if lock == wanted)
}

impl LockName {
    fn shown(&self, inventory: &Inventory) -> String {
        match self {
            LockName::Key(key) => inventory.keys[*key].name.clone(),
            LockName::Session => "of the session".to_owned(),
            LockName::Table(table) => table.clone(),
        }
    }
}

/// The judged writes of each statement.
struct Rows<'i> {
    by_site: HashMap<*const SqlSite, Vec<RowWrite<'i>>>,
}

impl<'i> Rows<'i> {
    fn of(inventory: &'i Inventory) -> Self {
        let mut by_site: HashMap<*const SqlSite, Vec<RowWrite<'i>>> = HashMap::new();
        for row in row_writes(inventory) {
            by_site.entry(std::ptr::from_ref(row.site)).or_default().push(row);
        }
        Self { by_site }
    }
}

/// Whether some `Drop` frees this lock.
fn freed_by_drop(inventory: &Inventory, lock: &LockName) -> bool {
    let LockName::Key(key) = lock else { return false };
    let operations = inventory.sequences.iter().flat_map(|sequence| &sequence.operations);
    operations
        .filter(|operation| operation.context.in_drop && operation.key == *key)
        .any(|operation| matches!(operation.action, Action::Delete { .. }))
}

fn role(inventory: &Inventory, rows: &Rows<'_>, timeline: &Timeline, step: &Step) -> Role {
    match step.kind {
        StepKind::Begin => Role::Begin,
        StepKind::Commit => Role::Commit,
        StepKind::Rollback => Role::Other,
        StepKind::Statement(site) => of_statement(inventory, rows, &inventory.statements[site]),
        StepKind::Key(at) => of_key(inventory, timeline, at),
    }
}

fn of_key(inventory: &Inventory, timeline: &Timeline, at: usize) -> Role {
    let Some(sequence) = timeline.sequence.map(|sequence| &inventory.sequences[sequence]) else {
        return Role::Other;
    };
    let operation = &sequence.operations[at];
    let key = &inventory.keys[operation.key];
    let is_lock = key.is_lock();
    match &operation.action {
        Action::Acquire { ttl, .. } if is_lock => {
            let expires = sequence
                .operations
                .iter()
                .any(|other| other.key == operation.key && matches!(other.action, Action::Expire { .. }));
            Role::Take { lock: LockName::Key(operation.key), ends_by_itself: *ttl != Ttl::None || expires }
        }
        Action::Delete { .. } if is_lock => Role::Free(LockName::Key(operation.key)),
        Action::Read if !is_lock => Role::Read(key.name.clone()),
        Action::Overwrite { .. } if !is_lock && !operation.context.in_script => {
            Role::Write { target: key.name.clone(), is_fenced: false }
        }
        _ => Role::Other,
    }
}

fn of_statement(inventory: &Inventory, rows: &Rows<'_>, site: &SqlSite) -> Role {
    if let Some(lock) = site.session_lock {
        return match lock.act {
            _ if lock.for_transaction => Role::Other,
            SessionAct::Release => Role::Free(LockName::Session),
            SessionAct::Take | SessionAct::Try => {
                Role::Take { lock: LockName::Session, ends_by_itself: false }
            }
        };
    }
    let judged = rows.by_site.get(&std::ptr::from_ref(site)).and_then(|rows| rows.first());
    if let Some(row) = judged {
        let table = || LockName::Table(row.write.table.name.clone());
        match row.purpose {
            Purpose::Release if row.holds_leases() => return Role::Free(table()),
            _ if row.takes_lease() => {
                return Role::Take { lock: table(), ends_by_itself: !row.profile.deadlines.is_empty() };
            }
            Purpose::Protected => {
                let is_fenced = matches!(row.protection(inventory), Protection::Fenced { .. });
                return write_role(row.write, is_fenced);
            }
            _ => return Role::Other,
        }
    }
    match &site.statement.kind {
        StatementKind::Write(write) => write_role(write, false),
        StatementKind::Select(_) => {
            let sources = selects(&site.statement.kind).into_iter().flat_map(|select| &select.sources);
            let mut tables = sources.filter_map(|source| match &source.kind {
                SourceKind::Table(table) => Some(table.name.clone()),
                _ => None,
            });
            tables.next().map_or(Role::Other, Role::Read)
        }
        _ => Role::Other,
    }
}

/// A new row tells of what happened; it overwrites nothing.
fn write_role(write: &crate::facts::sql::Write, is_fenced: bool) -> Role {
    match write.verb {
        WriteVerb::Insert => Role::Other,
        _ => Role::Write { target: write.table.name.clone(), is_fenced },
    }
}

struct Region<'r> {
    timeline: &'r Timeline,
    roles: &'r [Role],
    taken: usize,
    freed: &'r [usize],
    last: usize,
    /// The same lock is taken once more here.
    again: usize,
}

impl Region<'_> {
    fn exits(&self) -> Vec<Location> {
        let steps = &self.timeline.steps;
        let inside = self.timeline.exits.iter().filter(|exit| {
            exit.position > self.taken
                && exit.position <= self.last
                && self.is_left_by(exit)
                // The loser of the race has nothing to free.
                && !exit.decided_by.iter().any(|step| self.is_of_acquire(*step))
                && steps[self.taken].path.leads_to(&exit.path)
                && !self.freed.iter().any(|at| *at < exit.position && steps[*at].path.leads_to(&exit.path))
                && !self.freed.iter().any(|at| exit.decided_by.iter().any(|step| steps[*step].place == steps[*at].place))
        });
        inside.map(|exit| exit.location).collect()
    }

    /// A `break` or `continue` leaves a region that lies in the same round.
    fn is_left_by(&self, exit: &Exit) -> bool {
        let steps = &self.timeline.steps;
        exit.in_loop.is_none()
            || (steps[self.taken].in_loop == exit.in_loop && steps[self.last].in_loop == exit.in_loop)
    }

    /// The commands of one script, and of one helper that takes the lock, are one acquire.
    fn is_of_acquire(&self, step: usize) -> bool {
        let steps = &self.timeline.steps;
        steps.get(step).is_some_and(|step| step.place == steps[self.taken].place)
    }

    /// Writes and commits that whoever has released the lock comes to, for what was read or begun before.
    fn late_writes(&self, inventory: &Inventory) -> Vec<LateWrite> {
        let steps = &self.timeline.steps;
        let mut found = Vec::new();
        for at in self.freed[0] + 1..self.again {
            let Some(freed) = self.freed.iter().rev().find(|freed| **freed < at) else { continue };
            if steps[at].is_apart || !steps[*freed].path.leads_to(&steps[at].path) {
                continue;
            }
            let read = match &self.roles[at] {
                Role::Write { target, .. } => self.read_inside(target, *freed, at),
                Role::Commit => self.begun_inside(*freed),
                _ => None,
            };
            if let Some(read) = read {
                let target = match &self.roles[at] {
                    Role::Write { target, .. } => Some(target.clone()),
                    _ => None,
                };
                let location = match steps[at].kind {
                    StepKind::Statement(site) => inventory.statements[site].location(),
                    _ => steps[at].place,
                };
                found.push(LateWrite { location, target, read_at: steps[read].place });
            }
        }
        found
    }

    /// The read under the lock that a write rests on: of the same thing, or of what it writes.
    fn read_inside(&self, target: &str, freed: usize, write: usize) -> Option<usize> {
        let made_of = &self.timeline.steps[write].made_of;
        let reads = |at: &usize| match &self.roles[*at] {
            Role::Read(read) => read == target || made_of.contains(at),
            _ => false,
        };
        let again = (freed + 1..write).any(|at| reads(&at));
        (self.taken + 1..freed).find(reads).filter(|_| !again)
    }

    fn begun_inside(&self, freed: usize) -> Option<usize> {
        let begun = (self.taken + 1..freed).rev().find(|at| self.roles[*at] == Role::Begin)?;
        let ended = (begun + 1..freed).any(|at| self.roles[at] == Role::Commit);
        let writes = (begun + 1..freed).any(|at| matches!(self.roles[at], Role::Write { .. }));
        (writes && !ended).then_some(begun)
    }

    fn is_fenced(&self) -> bool {
        let mut writes = self.roles[self.taken + 1..self.last].iter().filter_map(|role| match role {
            Role::Write { is_fenced, .. } => Some(*is_fenced),
            _ => None,
        });
        writes.next() == Some(true) && writes.all(|is_fenced| is_fenced)
    }
}
