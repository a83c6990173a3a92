//! Lease rows that a renewal gives up and takes again, so that another worker can take them in between. Keys
//! are looked at in their sequences.

use super::{LockName, Role, Rows, role};
use crate::facts::Location;
use crate::locks::Inventory;
use crate::locks::timeline::Timeline;
use crate::locks::vocabulary::says_renewal;

/// A lease that is free for a moment in the middle of its renewal.
#[derive(Debug, Clone)]
pub struct Retaken {
    pub lock: String,
    pub released_at: Location,
    pub taken_at: Location,
}

/// Every such lease of every function that is called a renewal.
pub fn retaken_rows(inventory: &Inventory) -> Vec<Retaken> {
    let renewals = inventory.timelines.iter().filter(|timeline| {
        let name = timeline.function.rsplit("::").next().unwrap_or_default();
        says_renewal(name) && timeline.steps.len() > 1
    });
    let mut renewals = renewals.peekable();
    if renewals.peek().is_none() {
        return Vec::new();
    }
    let rows = Rows::of(inventory);
    renewals.filter_map(|timeline| of_timeline(inventory, &rows, timeline)).collect()
}

fn of_timeline(inventory: &Inventory, rows: &Rows<'_>, timeline: &Timeline) -> Option<Retaken> {
    let steps = &timeline.steps;
    let roles: Vec<Role> = steps.iter().map(|step| role(inventory, rows, timeline, step)).collect();
    // In one transaction nobody sees the row free.
    if roles.contains(&Role::Begin) {
        return None;
    }
    let is_taken =
        |lock: &LockName, at: usize| matches!(&roles[at], Role::Take { lock: own, .. } if own == lock);
    (0..roles.len()).find_map(|freed| {
        let Role::Free(lock @ LockName::Table(_)) = &roles[freed] else { return None };
        // What it has taken itself, it gives back.
        if (0..freed).any(|at| is_taken(lock, at)) {
            return None;
        }
        let follows = |at: &usize| {
            is_taken(lock, *at)
                && steps[*at].place != steps[freed].place
                && steps[freed].path.leads_to(&steps[*at].path)
        };
        let taken = (freed + 1..roles.len()).find(follows)?;
        Some(Retaken {
            lock: lock.shown(inventory),
            released_at: steps[freed].place,
            taken_at: steps[taken].place,
        })
    })
}
