//! Which locks have become better or worse between two audits.

use std::collections::BTreeMap;

use super::{Audit, Item, LockAudit, Verdict};

/// What has become of one lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub name: String,
    pub store: &'static str,
    pub direction: Direction,
    /// Each item whose verdict is another one: before and now.
    pub items: Vec<(Item, &'static str, &'static str)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    New,
    Gone,
    Better,
    Worse,
    /// One item is better and another one worse.
    Mixed,
}

impl Direction {
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Mixed => "better and worse",
        }
    }
}

/// The locks that have changed, in the order of their names.
pub fn difference(before: &Audit, now: &Audit) -> Vec<Change> {
    let by_name = |audit: &'_ Audit| -> BTreeMap<(&'static str, String), LockAudit> {
        audit.locks.iter().map(|lock| ((lock.store, lock.name.clone()), lock.clone())).collect()
    };
    let (old, new) = (by_name(before), by_name(now));
    let mut names: Vec<&(&'static str, String)> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    let changes = names.into_iter().filter_map(|key| change(key, old.get(key), new.get(key)));
    changes.collect()
}

fn change(key: &(&'static str, String), old: Option<&LockAudit>, new: Option<&LockAudit>) -> Option<Change> {
    let word = |lock: Option<&LockAudit>, item: Item| lock.map_or("-", |lock| lock.verdict(item).word());
    let items: Vec<(Item, &'static str, &'static str)> = Item::ALL
        .into_iter()
        .map(|item| (item, word(old, item), word(new, item)))
        .filter(|(_, before, now)| before != now)
        .collect();
    let direction = match (old, new) {
        (None, _) => Direction::New,
        (_, None) => Direction::Gone,
        (Some(old), Some(new)) => {
            let steps: Vec<i32> =
                Item::ALL.into_iter().map(|item| rank(new.verdict(item)) - rank(old.verdict(item))).collect();
            match (steps.iter().any(|step| *step > 0), steps.iter().any(|step| *step < 0)) {
                (true, true) => Direction::Mixed,
                (true, false) => Direction::Better,
                (false, true) => Direction::Worse,
                (false, false) => return None,
            }
        }
    };
    Some(Change { name: key.1.clone(), store: key.0, direction, items })
}

fn rank(verdict: &Verdict) -> i32 {
    match verdict {
        Verdict::Fails(_) => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Holds(_) => 2,
    }
}
