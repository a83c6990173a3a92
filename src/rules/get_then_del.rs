//! A holder reads the lock's value, sees itself, and deletes the key in a second step.

use crate::locks::{Inventory, unguarded_row_releases};
use crate::rules::edits::command;
use crate::rules::{Draft, Reporter};

const HELP: &str = "compare and delete in one step: a Lua script that deletes only while `GET` equals the owner value, or `DELEX key IFEQ owner` (Redis 8.4)";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for site in unguarded_row_releases(inventory) {
        let Some(read) = site.compared_reads.first() else { continue };
        report.add(
            Draft::new(
                site.location(),
                "frees the row whoever holds it by now",
                "the lease row can be freed while another worker holds it: it may expire and be taken between the comparison and this statement",
                "compare in the same statement: add the owner value or the token to its WHERE clause, and check the number of changed rows",
            )
            .related(*read, "the owner is read here, in a statement of its own"),
        );
    }
    for (sequence, delete) in inventory.deletes() {
        let Some(read) = sequence.ownership_read(delete) else { continue };
        let key = &inventory.keys[delete.key];
        let place = delete.place_beside(read);
        report.add(
            Draft::new(
                place,
                "deletes whatever is stored by now",
                format!(
                    "the lock `{}` can be deleted while another worker holds it: it may expire and be taken between the comparison and the delete",
                    key.name
                ),
                delete.advice_on_release(HELP),
            )
            .related(read.location, "the owner is read here, in a step of its own")
            .lock(&key.name)
            .related_to_helper(place, delete)
            .fix(command::compare_and_delete(read, delete, inventory.conventions.has_delex)),
        );
    }
}
