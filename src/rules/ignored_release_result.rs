//! A compare-and-delete whose answer nobody reads: the loss of the lock goes unseen.

use std::collections::BTreeSet;

use crate::locks::rows::{Protection, Purpose, row_writes};
use crate::locks::{CountUse, Inventory, Operation, ReplyUse, droppers};
use crate::rules::{Draft, Reporter};

const HELP: &str =
    "read the answer: a release that deletes nothing says that the lock was lost during the work";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    let regions = inventory.held_regions();
    let fenced: BTreeSet<&str> =
        regions.iter().filter(|region| region.is_fenced).map(|region| region.function.as_str()).collect();
    // A destructor can tell nobody, and whoever drops the guard does not go on with the work.
    let is_dropped = |release: &Operation| {
        release.reply == ReplyUse::Ignored && release.pipeline.is_none() && !release.context.in_drop
    };
    for (sequence, release, place) in droppers(inventory.compared_deletes(), is_dropped) {
        // Where every write is fenced, the store has refused what was stale.
        if fenced.contains(sequence.function.as_str()) {
            continue;
        }
        let lock = &inventory.keys[release.key].name;
        report.add(
            Draft::new(place, "its answer is dropped", message(lock), HELP)
                .lock(lock)
                .related_to_helper(place, release),
        );
    }
    for row in row_writes(inventory) {
        let held = row.purpose == Purpose::Release
            && matches!(row.protection(inventory), Protection::Held { .. } | Protection::Fenced { .. });
        let in_drop = row.site.function.as_deref().is_some_and(|function| function.ends_with("::drop"));
        if held && !in_drop && row.site.count == CountUse::Ignored && !row.is_nested {
            let lock = &row.write.table.name;
            let draft =
                Draft::new(row.site.location(), "its affected-row count is dropped", message(lock), HELP);
            let draft = draft.lock(lock);
            report.add(match row.site.call {
                Some(call) => draft.related(call, "the count is dropped here"),
                None => draft,
            });
        }
    }
}

fn message(lock: &str) -> String {
    format!("nobody learns from this release whether the lock `{lock}` was still held")
}
