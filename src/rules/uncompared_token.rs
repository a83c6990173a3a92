//! An owner value is stored with a lock, and nothing ever compares it.

use crate::locks::{Inventory, uncompared_row_owners};
use crate::rules::{Draft, Reporter};

const HELP: &str = "release and renew only while the stored value is the holder's own, and let the store refuse \
                    writes with an older token; a lock that ends by its TTL alone needs no owner value";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for acquire in inventory.uncompared_owners() {
        let lock = &inventory.keys[acquire.key].name;
        report.add(
            Draft::new(
                acquire.location,
                "stores who holds the lock",
                format!("nothing ever compares the owner value that is stored with the lock `{lock}`"),
                HELP,
            )
            .lock(lock)
            .related_to_helper(acquire.location, acquire),
        );
    }
    for owner in uncompared_row_owners(inventory) {
        let message = format!(
            "nothing ever compares `{}`, which is stored with the rows of `{}`",
            owner.column, owner.table
        );
        report.add(
            Draft::new(owner.site.location(), "stores who holds the row", message, HELP).lock(owner.table),
        );
    }
}
