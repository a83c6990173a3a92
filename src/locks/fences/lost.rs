//! Token columns and triggers that migrations took away, with the statements that still lean on them.

use super::{RuntimeWrite, runtime_writes, weakness};
use crate::facts::Location;
use crate::facts::sql::{Assignment, WriteVerb};
use crate::locks::naming::{TokenTier, may_count_holders};
use crate::locks::schema::{Column, Database, Loss, LostColumn, Table, UpdateTrigger};
use crate::locks::tables::contains;
use crate::locks::{Inventory, guard, tables};

/// A token column that is no longer there, or no longer what it was.
#[derive(Debug, Clone, Copy)]
pub struct LostFence<'a> {
    pub table: &'a Table,
    pub column: &'a Column,
    pub how: &'a Loss,
    pub at: Location,
    pub used_at: Location,
    /// The name says that it is a token, not only its use.
    pub is_sure: bool,
}

/// A trigger that refused stale tokens for statements that compare none.
#[derive(Debug, Clone, Copy)]
pub struct LostGuard<'a> {
    pub table: &'a Table,
    pub trigger: &'a str,
    pub column: &'a str,
    pub at: Location,
    pub used_at: Location,
}

pub fn lost_fences(inventory: &Inventory) -> Vec<LostFence<'_>> {
    let writes = runtime_writes(inventory);
    let mut found: Vec<LostFence<'_>> = Vec::new();
    for (database, table) in tables_of(inventory) {
        for lost in &table.lost_columns {
            let name = &lost.column.name;
            let by_use = || may_count_holders(name).then_some(TokenTier::Ambiguous);
            let Some(tier) = inventory.conventions.token_tier(&table.name.name, name).or_else(by_use) else {
                continue;
            };
            if !is_gone(inventory, database, table, lost) {
                continue;
            }
            let own = writes.iter().filter(|w| w.is_on(database, table));
            let user = own.clone().find(|w| leans_on(inventory, w, &lost.column.name, tier));
            let Some(user) = user else { continue };
            found.push(LostFence {
                table,
                column: &lost.column,
                how: &lost.how,
                at: lost.at,
                used_at: user.site.location(),
                is_sure: tier <= TokenTier::Lease,
            });
        }
    }
    found
}

fn tables_of(inventory: &Inventory) -> impl Iterator<Item = (&Database, &Table)> {
    let judged = inventory.schema.databases.iter().filter(|d| !d.is_context);
    judged.flat_map(|d| d.tables.values().flatten().map(move |t| (d, t)))
}

/// Whether what a migration took away has not come back, nor is there under the same name elsewhere.
fn is_gone(inventory: &Inventory, database: &Database, table: &Table, lost: &LostColumn) -> bool {
    let name = &lost.column.name;
    let now = table.column(name);
    if let Loss::Retyped { to } = &lost.how {
        // A later migration may have given it another type again.
        let is_last = now.is_some_and(|c| c.typed_at == Some(lost.at));
        let weak = |ty: &str| weakness(ty, database.dialect, false).is_some();
        return is_last && weak(to) && !weak(&lost.column.data_type);
    }
    let same = |t: &&Table| t.name.name.eq_ignore_ascii_case(&table.name.name);
    let twins = tables_of(inventory).filter(|(d, _)| d.package == database.package).map(|(_, t)| t);
    now.is_none() && !twins.filter(same).any(|t| t.column(name).is_some())
}

/// Whether the statement uses the column as a token.
fn leans_on(inventory: &Inventory, write: &RuntimeWrite<'_>, column: &str, tier: TokenTier) -> bool {
    if !write.site.statement.parsed {
        return false;
    }
    let used = tables::used_columns(write.write);
    let is_used = used.iter().any(|c| c.eq_ignore_ascii_case(column));
    if tier <= TokenTier::Lease {
        return is_used;
    }
    is_used
        && write.compares(inventory, column)
        && guard::new_token(write.write, column) != guard::NewToken::Kept
}

pub fn lost_guards(inventory: &Inventory) -> Vec<LostGuard<'_>> {
    let writes = runtime_writes(inventory);
    let mut found = Vec::new();
    for (database, table) in tables_of(inventory) {
        for lost in &table.lost_triggers {
            let own = || writes.iter().filter(|w| w.is_on(database, table));
            let column = missed_column(table, &lost.trigger);
            let Some((column, user)) = column
                .and_then(|c| own().find(|w| relied_on(inventory, w, &lost.trigger, c)).map(|w| (c, w)))
            else {
                continue;
            };
            found.push(LostGuard {
                table,
                trigger: &lost.trigger.name,
                column,
                at: lost.at,
                used_at: user.site.location(),
            });
        }
    }
    found
}

/// Whether a trigger that is gone would have refused this write, had it been stale.
pub fn was_refused(table: &Table, write: &crate::facts::sql::Write) -> bool {
    table.lost_triggers.iter().any(|lost| {
        missed_column(table, &lost.trigger).is_some_and(|column| fired(&lost.trigger, write, column))
    })
}

/// The column that the trigger watched, which is there and which no other trigger watches now.
fn missed_column<'a>(table: &'a Table, trigger: &'a UpdateTrigger) -> Option<&'a str> {
    let watched = |column: &str| table.triggers.iter().any(|t| contains(&t.refuses_stale, column));
    let missed = |column: &&String| table.column(column).is_some() && !watched(column);
    trigger.refuses_stale.iter().find(missed).map(String::as_str)
}

fn relied_on(inventory: &Inventory, write: &RuntimeWrite<'_>, trigger: &UpdateTrigger, column: &str) -> bool {
    write.site.statement.parsed
        && write.site.complete
        && fired(trigger, write.write, column)
        && !write.compares(inventory, column)
}

/// Whether the trigger fired on this write and looked at a token that it set.
fn fired(trigger: &UpdateTrigger, write: &crate::facts::sql::Write, column: &str) -> bool {
    let updates = matches!(write.verb, WriteVerb::Update | WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate);
    let sets =
        |name: &str| write.assignments.iter().any(|a: &Assignment| a.column.eq_ignore_ascii_case(name));
    let fires = trigger.of_columns.is_empty() || trigger.of_columns.iter().any(|c| sets(c));
    updates && fires && sets(column)
}
