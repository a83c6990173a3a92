//! A cancelled transaction is rolled back at some time after the lock was released.

use crate::finding::Severity;
use crate::locks::Inventory;
use crate::locks::regions::dropped_transactions;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for dropped in dropped_transactions(inventory) {
        let lock = &dropped.lock;
        let how = if dropped.is_aborted { "the abort of its task" } else { "the cancellation of its future" };
        let mut draft = Draft::new(
            dropped.begun_at,
            "rolled back by `Drop` when it is cancelled",
            format!(
                "{how} leaves this transaction to `Drop`, which waits for no rollback: the lock `{lock}` is released while the transaction may still hold its rows, or be committed by a statement that was under way"
            ),
            "pass a cancellation token into the work, and on that path call `tx.rollback().await` before the release",
        )
        .lock(lock)
        .related(dropped.released_at, "the lock is released here");
        if dropped.is_fenced {
            draft = draft.severity(Severity::Info);
        }
        report.add(draft);
    }
}
