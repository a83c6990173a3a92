//! The owner value does not tell one holder from another, although release or renewal compare it.

use std::collections::BTreeSet;

use crate::finding::Confidence;
use crate::locks::{Action, Inventory, Operation, OwnerValue, Sequence, constant_row_owners};
use crate::rules::{Draft, Reporter};

const HELP: &str =
    "make a value for each acquisition, such as `Uuid::new_v4()`, keep it with the guard, and compare that";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    let compared = compared_keys(inventory);
    for (claim, owner) in constant_row_owners(inventory) {
        report.add(
            Draft::new(
                claim.site.location(),
                format!("stores the constant `{owner}`"),
                format!(
                    "every holder of a row of `{}` stores the same owner value, so that comparing it lets one free or extend the lock of another",
                    claim.table
                ),
                HELP,
            )
            .lock(claim.table),
        );
    }
    let mut seen = BTreeSet::new();
    for (_, acquire) in inventory.acquires() {
        if !compared.contains(&acquire.key) {
            continue;
        }
        let Some((shared, confidence)) = shared(acquire) else { continue };
        if !seen.insert(acquire.location) {
            continue;
        }
        let key = &inventory.keys[acquire.key];
        report.add(
            Draft::new(
                acquire.location,
                format!("stores {shared}"),
                format!(
                    "every holder of `{}` that {} stores the same owner value, so that comparing it lets one free or extend the lock of another",
                    key.name,
                    if matches!(owner(acquire), Some(OwnerValue::PerProcess)) { "runs in this process or on this host" } else { "ever takes it" },
                ),
                HELP,
            )
            .confidence(confidence)
            .lock(&key.name)
            .related_to_helper(acquire.location, acquire),
        );
    }
}

fn shared(acquire: &Operation) -> Option<(String, Confidence)> {
    match owner(acquire)? {
        OwnerValue::Constant(text) => Some((format!("the constant `{text}`"), Confidence::High)),
        OwnerValue::PerProcess => Some(("a name of the process or host".to_owned(), Confidence::Medium)),
        _ => None,
    }
}

fn owner(acquire: &Operation) -> Option<&OwnerValue> {
    match &acquire.action {
        Action::Acquire { owner, .. } => Some(owner),
        _ => None,
    }
}

/// Locks whose stored value decides whether they are freed or extended.
fn compared_keys(inventory: &Inventory) -> BTreeSet<usize> {
    let compares = |sequence: &Sequence, operation: &Operation| match operation.action {
        Action::Delete { compared } | Action::Expire { compared, .. } => {
            (compared && !operation.compares_reading)
                || operation.checks.iter().any(|check| {
                    sequence.operations.get(check.read).is_some_and(|read| read.key == operation.key)
                })
        }
        _ => false,
    };
    let mut keys = BTreeSet::new();
    for sequence in &inventory.sequences {
        let found = sequence.operations.iter().filter(|operation| compares(sequence, operation));
        keys.extend(found.map(|operation| operation.key));
    }
    keys.retain(|key| inventory.keys[*key].is_lock());
    keys
}
