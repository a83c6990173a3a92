//! A write to what the lock protects, made when the lock is no longer held.

use crate::locks::{HeldRegion, Inventory, LateWrite};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for region in inventory.held_regions() {
        for write in &region.late_writes {
            report.add(draft(region, write));
        }
    }
}

fn draft(region: &HeldRegion, write: &LateWrite) -> Draft {
    let lock = &region.lock;
    let (label, message, help, read) = match &write.target {
        Some(target) => (
            "written behind the release",
            format!("`{target}` is read under the lock `{lock}` and written after its release"),
            "write before the release, and let the store refuse a stale write by its fencing token",
            "it is read here, under the lock",
        ),
        None => (
            "committed behind the release",
            format!("others see this transaction only after the lock `{lock}` was released"),
            "commit before the release",
            "the transaction begins here",
        ),
    };
    Draft::new(write.location, label, message, help)
        .lock(lock)
        .related(write.read_at, read)
        .related(region.released_at, "the lock is released here")
}
