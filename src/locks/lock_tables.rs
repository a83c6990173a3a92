//! Lock tables of the schema: which columns name the lock, and whether a key keeps a name to one row.
//!
//! Two holders of one lock are two rows of one name, so the key is what makes an INSERT an acquire.

use super::fences::{RuntimeWrite, runtime_writes};
use super::naming;
use super::schema::{Database, Table};
use super::tables::{TableProfile, declared, own_compares};
use super::{Inventory, SqlSite};
use crate::facts::Location;
use crate::facts::sql::{Comparison, Write, WriteVerb};

/// A lock table in which one name may stand in several rows.
#[derive(Debug, Clone)]
pub struct KeylessLockTable<'a> {
    pub table: &'a Table,
    pub at: Location,
    /// The columns that name the lock, as far as they are known.
    pub names: Vec<String>,
    /// A statement that takes the lock.
    pub acquire: Option<Location>,
    /// A new row is made for each acquire, so that a second one is certain to be let in.
    pub inserts: bool,
}

pub fn keyless_lock_tables(inventory: &Inventory) -> Vec<KeylessLockTable<'_>> {
    let writes = runtime_writes(inventory);
    let mut found = Vec::new();
    for database in inventory.schema.databases.iter().filter(|d| !d.is_context) {
        for table in database.tables.values().flatten() {
            found.extend(keyless(inventory, &writes, database, table));
        }
    }
    found
}

fn keyless<'a>(
    inventory: &'a Inventory,
    writes: &[RuntimeWrite<'a>],
    database: &Database,
    table: &'a Table,
) -> Option<KeylessLockTable<'a>> {
    let at = table.declared.filter(|_| table.is_whole && !table.columns.is_empty())?;
    if !naming::names_exclusive_locks(&table.name.name) || has_modes(table) {
        return None;
    }
    let own: Vec<&RuntimeWrite<'_>> = writes.iter().filter(|w| w.is_on(database, table)).collect();
    let profile = own
        .iter()
        .find_map(|w| inventory.tables().profile(w.site, &w.write.table).cloned())
        .unwrap_or_else(|| declared(table, &inventory.conventions));
    if !profile.is_lock_table {
        return None;
    }
    let acquires: Vec<&&RuntimeWrite<'_>> =
        own.iter().filter(|w| takes(w.write, &profile) && !is_serialized(w.site)).collect();
    if acquires.is_empty() {
        let seldom = own.iter().any(|w| takes(w.write, &profile));
        let names = lock_names(table.columns.iter().map(|c| c.name.as_str()), &profile);
        let open = !seldom && !has_key(table, &profile, &names);
        return open.then_some(KeylessLockTable { table, at, names, acquire: None, inserts: false });
    }
    let (acquire, names) = acquires.iter().find_map(|w| {
        let names = lock_names(candidates(w.write).into_iter(), &profile);
        (!has_key(table, &profile, &names)).then_some((w, names))
    })?;
    let inserts = acquire.write.verb != WriteVerb::Update;
    Some(KeylessLockTable { table, at, names, acquire: Some(acquire.site.location()), inserts })
}

/// A lock that many may share, or a queue for it: several rows of one name are meant.
fn has_modes(table: &Table) -> bool {
    table.columns.iter().any(|c| naming::is_lock_mode(&c.name))
}

fn takes(write: &Write, profile: &TableProfile) -> bool {
    match write.verb {
        WriteVerb::Insert | WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate | WriteVerb::Replace => true,
        WriteVerb::Update => write.assignments.iter().any(|a| profile.is_owner(&a.column)),
        _ => false,
    }
}

/// Another lock keeps others out while the row is looked for and made.
fn is_serialized(site: &SqlSite) -> bool {
    site.transaction.advisory_lock || !site.transaction.locked_tables.is_empty()
}

/// Columns by which an acquire may name its lock.
fn candidates(write: &Write) -> Vec<&str> {
    if write.verb != WriteVerb::Update {
        return write.insert_columns.iter().map(String::as_str).collect();
    }
    let compares = own_compares(write.predicate.as_ref());
    compares.into_iter().filter(|(_, o, _)| *o == Comparison::Equal).map(|(column, ..)| column).collect()
}

/// Of these columns, those that name the lock: by their own names, else all that say nothing of the holder.
fn lock_names<'c>(columns: impl Iterator<Item = &'c str>, profile: &TableProfile) -> Vec<String> {
    let neutral: Vec<String> = columns.filter(|c| !is_about_holder(c, profile)).map(str::to_owned).collect();
    let named: Vec<String> = neutral.iter().filter(|c| naming::is_lock_name(c)).cloned().collect();
    if named.is_empty() { neutral } else { named }
}

fn is_about_holder(column: &str, profile: &TableProfile) -> bool {
    if naming::is_lock_id(column) {
        return false;
    }
    profile.is_owner(column)
        || profile.is_deadline(column)
        || profile.is_claim_time(column)
        || profile.is_token(column)
        || naming::is_owner(column)
        || naming::is_time(column)
        || naming::is_state(column)
        || naming::is_audit(column)
}

/// Whether a key allows one row for each name. A key that has the holder in it allows one for each holder.
fn has_key(table: &Table, profile: &TableProfile, names: &[String]) -> bool {
    let keys = std::iter::once(&table.primary_key).chain(table.unique.iter().map(|key| &key.columns));
    keys.filter(|key| !key.is_empty()).any(|key| {
        let covers = |column: &String| {
            names.iter().any(|name| column.eq_ignore_ascii_case(name) || is_expression_of(column, name))
        };
        let one_each = !key.iter().any(|c| is_about_holder(c, profile));
        one_each && (names.is_empty() || key.iter().any(covers))
    })
}

/// `(lower(name))` of an index on an expression.
fn is_expression_of(column: &str, name: &str) -> bool {
    column.starts_with('(')
        && column.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w.eq_ignore_ascii_case(name))
}
