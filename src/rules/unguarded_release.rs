//! A lock is freed by somebody who has not shown that he holds it.

use crate::facts::sql::StatementKind;
use crate::finding::{Confidence, Severity};
use crate::locks::vocabulary::says_forced;
use crate::locks::{Inventory, Operation, Sequence, SqlSite, unguarded_row_releases};
use crate::rules::{Draft, Reporter};

const HELP: &str = "store a value of its own for each acquisition and free the lock only while that value is stored: a compare-and-delete script, or `DELEX key IFEQ owner` (Redis 8.4)";

const ROW_HELP: &str = "free the row only for its holder: add the owner value or the token to the WHERE clause, and treat zero changed rows as a lock that was lost";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for site in unguarded_row_releases(inventory) {
        let table = lock_table(site);
        let message =
            format!("any worker can free the lease row of `{table}`, also after another one has taken it");
        let mut draft =
            Draft::new(site.location(), "frees the row without asking who holds it", message, ROW_HELP);
        if let Some(call) = site.call {
            draft = draft.related(call, "the statement runs here");
        }
        if site.function.as_deref().is_some_and(says_forced) {
            draft = draft.severity(Severity::Info);
        }
        report.add(draft.lock(table));
    }
    for (sequence, delete) in inventory.deletes() {
        if delete.context.in_script || is_compared(sequence, delete) {
            continue;
        }
        let key = &inventory.keys[delete.key];
        let mut draft = Draft::new(
            delete.location,
            "deletes the key without asking who holds it",
            message(&key.name, delete),
            delete.advice_on_release(HELP),
        )
        .lock(&key.name)
        .confidence(if key.acquires.is_empty() { Confidence::Medium } else { Confidence::High })
        .related_to_helper(delete.location, delete);
        if let Some(acquire) = key.acquires.first() {
            draft = draft.related(*acquire, "the lock is taken here");
        }
        if says_forced(&delete.function) || says_forced(&sequence.function) {
            draft = draft.severity(Severity::Info);
        }
        report.add(draft);
    }
}

fn lock_table(site: &SqlSite) -> String {
    match &site.statement.kind {
        StatementKind::Write(write) => write.table.name.clone(),
        _ => String::new(),
    }
}

fn message(lock: &str, delete: &Operation) -> String {
    if delete.context.after_sleep && delete.context.spawned {
        return format!(
            "a timer deletes the lock `{lock}` when its time is over, and so the lock of the next holder"
        );
    }
    if delete.after_acquire.is_some() {
        return format!(
            "the lock `{lock}` may have expired and been taken by another worker before this deletes it"
        );
    }
    format!("the lock `{lock}` can be freed by a worker that no longer holds it")
}

fn is_compared(sequence: &Sequence, delete: &Operation) -> bool {
    delete.checks.iter().any(|check| {
        !check.with_constant && sequence.operations.get(check.read).is_some_and(|read| read.key == delete.key)
    })
}
