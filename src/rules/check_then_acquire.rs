//! A look finds the lock free, and a later command takes it whoever has taken it meanwhile.

use crate::finding::Confidence;
use crate::locks::{Action, Inventory, unguarded_row_claims};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for (sequence, set) in inventory.uncompared_sets() {
        let Some(look) = set.decided_by.and_then(|at| sequence.operations.get(at)) else { continue };
        let key = &inventory.keys[set.key];
        let asks = if look.action == Action::Exists { "whether it exists" } else { "what it stores" };
        let place = set.place_beside(look);
        report.add(
            Draft::new(
                place,
                "overwrites whatever is stored by now",
                format!(
                    "two workers that look at `{}` at the same time both find it free, and both take it",
                    key.name
                ),
                set.advice_on_acquire(
                    "take it in one command that fails when it is taken: `SET key owner NX PX milliseconds`",
                ),
            )
            .related(look.location, format!("this asks {asks}, in a step of its own"))
            .lock(&key.name)
            .related_to_helper(place, set),
        );
    }
    for claim in unguarded_row_claims(inventory) {
        let table = claim.table;
        let mut draft = Draft::new(
            claim.site.location(),
            "takes the row whatever has become of it",
            format!(
                "two workers that read the same free row of `{table}` both take it: this statement does not ask whether it is still free"
            ),
            "claim in one statement (`UPDATE … WHERE id = (SELECT … FOR UPDATE SKIP LOCKED)`), or repeat the condition in the WHERE clause and check that a row was changed",
        )
        .confidence(Confidence::High)
        .lock(table);
        if let Some(read) = claim.read {
            draft = draft.related(read, "the free rows are read here");
        }
        report.add(draft);
    }
}
