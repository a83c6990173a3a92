//! The work goes on whether the lock was taken or not.

use crate::finding::Confidence;
use crate::locks::{Inventory, Operation, ReplyUse, droppers, ignored_row_acquires, ignored_session_locks};
use crate::rules::{Draft, Reporter};

const HELP: &str =
    "branch on the reply before the protected work: only a positive reply means that the lock is held";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for (sequence, acquire, place) in droppers(inventory.acquires(), |acquire| defect(acquire).is_some()) {
        let Some((label, what)) = defect(acquire) else { continue };
        let key = &inventory.keys[acquire.key];
        // A function that answers yes or no may have found its answer in another way.
        let is_doubtful = sequence.answers && !acquire.error_is_yes;
        let confidence = if is_doubtful { Confidence::Low } else { Confidence::High };
        report.add(
            Draft::new(place, label, format!("{what} `{}` was taken", key.name), HELP)
                .confidence(confidence)
                .lock(&key.name)
                .related_to_helper(place, acquire),
        );
    }
    for site in ignored_session_locks(inventory).into_iter().chain(ignored_row_acquires(inventory)) {
        let mut draft = Draft::new(
            site.location(),
            "its answer is dropped",
            "the work goes on whether this statement took the lock or not",
            "read the answer (the boolean, or the number of changed rows) and leave when the lock was not taken",
        );
        if let Some(call) = site.call {
            draft = draft.related(call, "the answer is dropped here");
        }
        report.add(draft);
    }
}

fn defect(acquire: &Operation) -> Option<(&'static str, &'static str)> {
    // A script answers with what it returns, not with what its SET does.
    if acquire.context.in_script || acquire.pipeline.is_some() {
        return None;
    }
    if acquire.error_is_yes {
        return Some((
            "an error counts as success",
            "when the store does not answer, the work runs as if the lock",
        ));
    }
    (acquire.reply == ReplyUse::Ignored)
        .then_some(("its reply is dropped", "the work goes on whether the lock"))
}
