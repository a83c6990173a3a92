//! A lock that nothing ever gives an expiry: a crash holds it for ever.

use crate::locks::naming::{is_claim_time, is_deadline, is_time, is_weak_deadline, is_weak_owner, words};
use crate::locks::schema::{Column, Database, Table};
use crate::locks::{Action, Conventions, Inventory, Operation, Ttl};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    check_keys(inventory, report);
    check_rows(inventory, report);
}

fn check_keys(inventory: &Inventory, report: &mut Reporter<'_>) {
    for acquire in inventory.sequences.iter().flat_map(|sequence| &sequence.operations) {
        if !matches!(acquire.action, Action::Acquire { ttl: Ttl::None, .. }) || acquire.is_test {
            continue;
        }
        let key = &inventory.keys[acquire.key];
        if !key.is_lock() || expires_somewhere(inventory, acquire) {
            continue;
        }
        // Whoever leaves the expiry out is to blame: the caller that passes none, or the helper itself.
        let place = if acquire.expiry_from_caller { acquire.location } else { acquire.inner };
        let other = if acquire.expiry_from_caller { acquire.inner } else { acquire.location };
        let mut draft = Draft::new(
            place,
            "takes the lock for as long as the server runs",
            format!("the lock `{}` has no expiry: a worker that dies while it holds it holds it for ever", key.name),
            acquire.advice_on_acquire("give it a lifetime in the same command: `SET key owner NX PX milliseconds`, and renew it at a third of that"),
        )
        .lock(&key.name);
        if other != place {
            draft = draft.related(other, "the lock is taken through this");
        }
        report.add(draft);
    }
}

fn expires_somewhere(inventory: &Inventory, acquire: &Operation) -> bool {
    inventory.sequences.iter().flat_map(|sequence| &sequence.operations).any(|operation| {
        operation.key == acquire.key
            && matches!(
                operation.action,
                Action::Expire { .. }
                    | Action::Overwrite {
                        ttl: Ttl::Given(_) | Ttl::WallClock(_) | Ttl::UntilWallClock(_),
                        ..
                    }
            )
    })
}

fn check_rows(inventory: &Inventory, report: &mut Reporter<'_>) {
    let databases = inventory.schema.databases.iter();
    let tables =
        databases.flat_map(|database| database.tables.values().flatten().map(move |t| (database, t)));
    for (database, table) in tables {
        let is_forever = holds_for_ever(table, &inventory.conventions)
            && !table.columns.iter().any(|column| ends_with_holder(column, database));
        let Some(declared) = table.declared.filter(|_| is_forever) else { continue };
        let name = &table.name.name;
        report.add(
            Draft::new(
                declared,
                "has an owner and no moment at which a row ends",
                format!("a row of the lock table `{name}` never expires: a worker that dies while it holds it holds it for ever"),
                "add an expiry column that the database's own clock sets and that a take-over compares, such as `expires_at TIMESTAMPTZ NOT NULL`",
            )
            .lock(name),
        );
    }
}

fn holds_for_ever(table: &Table, conventions: &Conventions) -> bool {
    let name = table.name.name.as_str();
    let any = |test: fn(&str) -> bool| table.columns.iter().any(|column| test(&column.name));
    let owned = |column: &Column| conventions.is_owner(name, &column.name) || is_weak_owner(&column.name);
    let ends = |column: &Column| conventions.is_deadline(name, &column.name);
    table.is_whole
        && conventions.is_lock_table(name)
        && table.columns.iter().any(owned)
        && !table.columns.iter().any(ends)
        && ![is_weak_deadline, is_claim_time, is_time].into_iter().any(any)
}

/// `worker_id`, where a table of workers says when each of them last showed itself: a row ends with its holder.
fn ends_with_holder(column: &Column, database: &Database) -> bool {
    let mut holder = words(&column.name);
    if holder.len() < 2 || holder.pop().as_deref() != Some("id") {
        return false;
    }
    let holder = holder.join("_");
    let is_holder = |table: &Table| {
        let name = words(&table.name.name).join("_");
        name == holder || name.strip_suffix('s') == Some(&holder)
    };
    let shows_itself = |column: &Column| is_claim_time(&column.name) || is_deadline(&column.name);
    let tables = database.tables.values().flatten();
    tables.filter(|table| is_holder(table)).any(|table| table.columns.iter().any(shows_itself))
}
