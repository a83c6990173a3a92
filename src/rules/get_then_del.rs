//! A holder reads the lock's value, sees itself, and deletes the key in a second step.

use crate::locks::{Action, Inventory, Operation, Sequence};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for (sequence, delete) in inventory.deletes() {
        let Some(read) = ownership_read(sequence, delete) else { continue };
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
                "compare and delete in one step: a Lua script that deletes only while `GET` equals the owner value, or `DELEX key IFEQ owner` (Redis 8.4)",
            )
            .related(read.location, "the owner is read here, in a step of its own")
            .lock(&key.name)
            .related_to_helper(place, delete),
        );
    }
}

/// The read whose value was found equal to something that is no constant.
fn ownership_read<'s>(sequence: &'s Sequence, delete: &Operation) -> Option<&'s Operation> {
    delete.checks.iter().filter(|check| !check.with_constant).find_map(|check| {
        let read = sequence.operations.get(check.read)?;
        (read.key == delete.key && read.action == Action::Read).then_some(read)
    })
}
