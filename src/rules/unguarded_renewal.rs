//! A lock gets more time from somebody who has not shown that he holds it.

use crate::facts::Location;
use crate::facts::sql::StatementKind;
use crate::finding::Confidence;
use crate::locks::regions::retaken_rows;
use crate::locks::vocabulary::says_renewal;
use crate::locks::{Action, Inventory, Operation, Sequence, SqlSite, unguarded_row_renewals};
use crate::rules::{Draft, Reporter};

const HELP: &str = "extend the lock only while it stores this holder's value: a compare-and-extend script, or `SET key owner IFEQ owner PX milliseconds` (Redis 8.4)";

const ROW_HELP: &str = "renew the row for its holder alone: add the owner value or the token to the WHERE clause, and treat zero changed rows as a lease that was lost";

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for site in unguarded_row_renewals(inventory) {
        report.add(row_renewal(site));
    }
    for (sequence, renewal) in inventory.renewals() {
        if !renewal.context.in_script && sequence.ownership_read(renewal).is_none() {
            report.add(key_renewal(inventory, renewal));
        }
    }
    for sequence in &inventory.sequences {
        if let Some((release, acquire)) = given_up_and_taken_again(sequence)
            && inventory.keys[release.key].is_lock()
        {
            let lock = &inventory.keys[release.key].name;
            report.add(retaken(lock, release.place_beside(acquire), acquire.place_beside(release), HELP));
        }
    }
    for row in retaken_rows(inventory) {
        report.add(retaken(&row.lock, row.released_at, row.taken_at, ROW_HELP));
    }
}

fn row_renewal(site: &SqlSite) -> Draft {
    let table = match &site.statement.kind {
        StatementKind::Write(write) => write.table.name.as_str(),
        _ => "",
    };
    let mut draft = Draft::new(
        site.location(),
        "moves the deadline without asking who holds the row",
        format!(
            "any worker can renew the lease row of `{table}`, also one that has lost it: it then believes that it still holds the lease"
        ),
        ROW_HELP,
    )
    .lock(table);
    if let Some(call) = site.call {
        draft = draft.related(call, "the statement runs here");
    }
    draft
}

fn key_renewal(inventory: &Inventory, renewal: &Operation) -> Draft {
    let key = &inventory.keys[renewal.key];
    let message = format!(
        "the lock `{}` is extended for whoever holds it: a worker that lost it keeps another worker's lock alive and believes that it is its own",
        key.name
    );
    let mut draft =
        Draft::new(renewal.location, "extends the key without asking who holds it", message, HELP)
            .lock(&key.name)
            .confidence(if key.acquires.is_empty() { Confidence::Medium } else { Confidence::High })
            .related_to_helper(renewal.location, renewal);
    if let Some(acquire) = key.acquires.first() {
        draft = draft.related(*acquire, "the lock is taken here");
    }
    draft
}

fn retaken(lock: &str, released_at: Location, taken_at: Location, help: &'static str) -> Draft {
    Draft::new(
        released_at,
        "gives the lock up in the middle of the work",
        format!(
            "this renewal gives `{lock}` up before it takes it again, so that another worker can take it in between"
        ),
        help,
    )
    .related(taken_at, "the lock is taken again here")
    .lock(lock)
}

/// A delete of the holder's own lock and an acquire of the same key, in a function that renews.
fn given_up_and_taken_again(sequence: &Sequence) -> Option<(&Operation, &Operation)> {
    if !says_renewal(&sequence.function) {
        return None;
    }
    let (at, release) = sequence.operations.iter().enumerate().find(|(_, operation)| {
        matches!(operation.action, Action::Delete { .. })
            && !operation.is_test
            && operation.after_acquire.is_none()
    })?;
    let acquire = sequence.operations[at + 1..]
        .iter()
        .find(|operation| operation.key == release.key && operation.action.is_acquire())?;
    (acquire.location != release.location).then_some((release, acquire))
}
