//! A lock table that takes a second row for the same lock.

use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::locks::lock_tables::keyless_lock_tables;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for found in keyless_lock_tables(inventory) {
        let table = &found.table.name.name;
        let names = found.names.join("`, `");
        let message = if found.names.len() == 1 {
            format!(
                "`{names}` is not unique in `{table}`, so that two workers can hold the same lock, each by a row of its own"
            )
        } else {
            format!(
                "no key keeps `{table}` to one row for each lock, so that two workers can hold the same lock"
            )
        };
        let help = match found.names.as_slice() {
            [name] => format!("make `{name}` the primary key, or add a unique index on it"),
            _ => "make the lock's name the primary key, or add a unique index on it".to_owned(),
        };
        let confidence = if found.inserts { Confidence::High } else { Confidence::Medium };
        let draft = Draft::new(found.at, "no unique key for the lock's name", message, help);
        let draft = draft.confidence(confidence).lock(table.clone());
        report.add(match found.acquire {
            Some(acquire) => draft.related(acquire, "the lock is taken here"),
            None => draft,
        });
    }
}
