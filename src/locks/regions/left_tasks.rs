//! Work under a lock that a program leaves alone when it is asked to end: `main` returns, and with it the
//! runtime drops what still runs, between an acquire and its release.

use super::{LockName, Role, Rows, freed_by_drop, role};
use crate::facts::Location;
use crate::locks::timeline::Timeline;
use crate::locks::{Binary, Inventory, SigtermHandling};

/// Work that holds a lock when `main` ends.
#[derive(Debug, Clone)]
pub struct LeftWork {
    pub lock: String,
    /// The call that starts the task, or that makes the future.
    pub location: Location,
    pub acquired_at: Location,
    pub released_at: Location,
    /// The program's `main`.
    pub main: Location,
    pub kind: LeftKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftKind {
    /// A task that nobody waits for.
    Task,
    /// A future of the `select!` that the signal ends.
    Future,
}

/// Such work of every program that hears SIGTERM.
pub fn left_work(inventory: &Inventory) -> Vec<LeftWork> {
    let rows = Rows::of(inventory);
    let mut found: Vec<LeftWork> = Vec::new();
    for binary in inventory.binaries.iter().filter(|binary| hears_sigterm(binary)) {
        let is_main = |timeline: &&Timeline| timeline.location == binary.main;
        let Some(timeline) = inventory.timelines.iter().find(is_main) else { continue };
        // A program that ends itself is asked about elsewhere.
        let ends_itself = timeline.endings.iter().any(|end| end.after_signal && end.task.is_none());
        if timeline.waits.is_empty() || ends_itself {
            continue;
        }
        let roles: Vec<Role> =
            timeline.steps.iter().map(|step| role(inventory, &rows, timeline, step)).collect();
        let main = Main { inventory, timeline, roles: &roles, place: binary.main };
        found.extend(main.left());
    }
    found.sort_by_key(|left| left.location);
    found.dedup_by_key(|left| left.location);
    found
}

fn hears_sigterm(binary: &Binary) -> bool {
    !binary.is_test && binary.takes_lease.is_some() && binary.sigterm == SigtermHandling::Handled
}

struct Main<'t> {
    inventory: &'t Inventory,
    timeline: &'t Timeline,
    roles: &'t [Role],
    place: Location,
}

impl Main<'_> {
    fn left(&self) -> Vec<LeftWork> {
        let mut found = Vec::new();
        for (taken, role) in self.roles.iter().enumerate() {
            let Role::Take { lock, .. } = role else { continue };
            // A session ends with the process, and the lock with it.
            if *lock == LockName::Session || freed_by_drop(self.inventory, lock) {
                continue;
            }
            let task = self.timeline.steps[taken].task;
            let freed = (taken + 1..self.roles.len()).find(|at| {
                self.roles[*at] == Role::Free(lock.clone()) && self.timeline.steps[*at].task == task
            });
            let Some(freed) = freed else { continue };
            let left = match task {
                Some(task) if self.is_left_task(taken, task) => Some((LeftKind::Task, task)),
                None if self.is_left_future(taken, freed, lock) => {
                    Some((LeftKind::Future, self.timeline.steps[taken].place))
                }
                _ => None,
            };
            found.extend(left.map(|(kind, location)| LeftWork {
                lock: lock.shown(self.inventory),
                location,
                acquired_at: self.timeline.steps[taken].place,
                released_at: self.timeline.steps[freed].place,
                main: self.place,
                kind,
            }));
        }
        found
    }

    /// A task that runs when the signal comes, while `main` waits for nothing more.
    fn is_left_task(&self, taken: usize, task: Location) -> bool {
        !self.timeline.waits_for_others
            && !self.timeline.awaited_tasks.contains(&task)
            && self.timeline.waits.iter().any(|wait| taken < wait.position)
    }

    /// A future beside which another arm waits for the signal, with no release behind the `select!`.
    fn is_left_future(&self, taken: usize, freed: usize, lock: &LockName) -> bool {
        let steps = &self.timeline.steps;
        let Some((select, own)) = steps[taken].arm.filter(|_| steps[taken].may_be_dropped) else {
            return false;
        };
        let is_in_arm = |at: usize| steps[at].arm == Some((select, own));
        let is_ended = self
            .timeline
            .waits
            .iter()
            .filter_map(|wait| wait.arm)
            .any(|(of, arm)| of == select && arm != own);
        let is_freed_behind =
            (freed + 1..steps.len()).any(|at| self.roles[at] == Role::Free(lock.clone()) && !is_in_arm(at));
        is_ended && is_in_arm(freed) && steps[freed].may_be_dropped && !is_freed_behind
    }
}
