//! A holder reads the lock's value, sees itself, and gives the key more time in a second step.

use crate::locks::{Inventory, unguarded_row_renewals};
use crate::rules::edits::command;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for site in unguarded_row_renewals(inventory) {
        let Some(read) = site.compared_reads.first() else { continue };
        report.add(
            Draft::new(
                site.location(),
                "moves the deadline of whoever holds the row by now",
                "this can renew another worker's lease: the row may expire and be taken between the comparison and this statement",
                "compare in the same statement: add the owner value or the token to its WHERE clause, and treat zero changed rows as a lease that was lost",
            )
            .related(*read, "the owner is read here, in a statement of its own"),
        );
    }
    for (sequence, renewal) in inventory.renewals() {
        let Some(read) = sequence.ownership_read(renewal) else { continue };
        let key = &inventory.keys[renewal.key];
        let place = renewal.place_beside(read);
        report.add(
            Draft::new(
                place,
                "extends whatever is stored by now",
                format!(
                    "this can extend another worker's hold on `{}`: the lock may expire and be taken between the comparison and this command",
                    key.name
                ),
                "compare and extend in one step: a Lua script that calls `PEXPIRE` only while `GET` equals the owner value, or `SET key owner IFEQ owner PX milliseconds` (Redis 8.4)",
            )
            .related(read.location, "the owner is read here, in a step of its own")
            .lock(&key.name)
            .related_to_helper(place, renewal)
            .fix(command::compare_and_expire(read, renewal)),
        );
    }
}
