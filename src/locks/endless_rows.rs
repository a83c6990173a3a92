//! Lock tables whose rows end with nothing but the goodwill of their holder: they name one, and no statement
//! takes a row over when its time has come.

use super::Inventory;
use super::fences::{RuntimeWrite, runtime_writes};
use super::naming::{is_claim_time, is_deadline, is_time, is_weak_deadline, is_weak_owner, words};
use super::schema::{Column, Database, Table};
use super::tables::{is_null, reads, selects};
use crate::facts::Location;
use crate::facts::sql::{Expr, ExprKind, Select};

/// A table of locks that are held for ever when their holder dies.
#[derive(Debug, Clone, Copy)]
pub struct EndlessLockTable<'a> {
    pub table: &'a Table,
    pub declared: Location,
}

pub fn endless_lock_tables(inventory: &Inventory) -> Vec<EndlessLockTable<'_>> {
    let writes = runtime_writes(inventory);
    let mut found = Vec::new();
    for database in &inventory.schema.databases {
        for table in database.tables.values().flatten() {
            let Some(declared) = table.declared else { continue };
            let own: Vec<&RuntimeWrite<'_>> = writes.iter().filter(|w| w.is_on(database, table)).collect();
            let ends = table.columns.iter().any(|column| ends_with_holder(column, database));
            if holds_for_ever(inventory, table, &own) && !ends {
                found.push(EndlessLockTable { table, declared });
            }
        }
    }
    found
}

fn holds_for_ever(inventory: &Inventory, table: &Table, own: &[&RuntimeWrite<'_>]) -> bool {
    let name = table.name.name.as_str();
    let conventions = &inventory.conventions;
    let owned = |column: &Column| conventions.is_owner(name, &column.name) || is_weak_owner(&column.name);
    let ends = |column: &Column| {
        conventions.is_deadline(name, &column.name)
            || is_weak_deadline(&column.name)
            || own.iter().any(|write| is_learned_deadline(inventory, write, &column.name))
            || (is_claim_time(&column.name) || is_time(&column.name))
                && (is_looked_at(inventory, table, own, &column.name)
                    || !own.iter().any(|write| names_holder(inventory, write)))
    };
    table.is_whole
        && conventions.is_lock_table(name)
        && table.columns.iter().any(owned)
        && !table.columns.iter().any(ends)
}

fn is_learned_deadline(inventory: &Inventory, write: &RuntimeWrite<'_>, column: &str) -> bool {
    let profile = inventory.tables().profile(write.site, &write.write.table);
    profile.is_some_and(|profile| profile.is_deadline(column))
}

/// Whether a write gives a row to somebody.
fn names_holder(inventory: &Inventory, write: &RuntimeWrite<'_>) -> bool {
    let Some(profile) = inventory.tables().profile(write.site, &write.write.table) else { return false };
    let inserted = write.write.insert_columns.iter().map(String::as_str).zip(&write.write.insert_values);
    let set = write.write.assignments.iter().map(|a| (a.column.as_str(), &a.value));
    inserted.chain(set).any(|(column, value)| profile.is_owner(column) && !is_null(value))
}

/// Whether a statement asks for a time of the row, or hands it to the program, which may ask for it.
fn is_looked_at(inventory: &Inventory, table: &Table, own: &[&RuntimeWrite<'_>], column: &str) -> bool {
    let asks = |write: &&RuntimeWrite<'_>| {
        let asked = write.write.predicate.iter().chain(&write.write.join_conditions);
        asked.into_iter().any(|e| names(e, column))
    };
    own.iter().any(asks)
        || inventory.statements.iter().filter(|site| site.is_at_runtime()).any(|site| {
            let found = selects(&site.statement.kind);
            found
                .into_iter()
                .filter(|select| reads(select, &table.name))
                .any(|select| hands_on(select, column))
        })
}

/// A query for all columns names none.
fn hands_on(select: &Select, column: &str) -> bool {
    let names_columns = select.projection.iter().any(|e| matches!(e.kind, ExprKind::Column { .. }));
    let asked = select.projection.iter().chain(&select.predicate).chain(&select.join_conditions);
    !names_columns || asked.into_iter().any(|e| names(e, column))
}

fn names(e: &Expr, column: &str) -> bool {
    match &e.kind {
        ExprKind::Column { name, .. } => name.eq_ignore_ascii_case(column),
        _ => e.kind.parts().into_iter().any(|part| names(part, column)),
    }
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
