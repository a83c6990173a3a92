//! How rows are taken: by a statement that asks whether they are still free, or by one that trusts an
//! earlier look.

use super::looked_up::looked_up_claims;
use super::purpose::picks_row;
use super::{Purpose, RowWrite, row_writes};
use crate::facts::sql::{Comparison, Dialect, Expr, ExprKind, SourceKind, StatementKind, WriteVerb};
use crate::facts::{FileId, Location};
use crate::locks::statement::SessionAct;
use crate::locks::tables::{contains, inner_selects, literal, own_compares, reads, selects};
use crate::locks::{CountUse, Inventory, SqlSite, naming};

/// A statement that takes rows it does not ask about.
#[derive(Debug, Clone, Copy)]
pub struct RowClaim<'a> {
    pub site: &'a SqlSite,
    pub table: &'a str,
    /// Where the free rows are read.
    pub read: Option<Location>,
}

/// Statements that take rows which an unlocked read found free, whatever has become of them.
pub fn unguarded_row_claims(inventory: &Inventory) -> Vec<RowClaim<'_>> {
    let mut found = Vec::new();
    for row in row_writes(inventory) {
        if row.purpose != Purpose::Acquire || !asks_nothing(&row) || has_locked(&row) {
            continue;
        }
        let table = row.write.table.name.as_str();
        let Some(read) = unlocked_read(inventory, &row) else { continue };
        found.push(RowClaim { site: row.site, table, read: Some(read) });
    }
    let is_known = |claim: &RowClaim<'_>| found.iter().any(|known| std::ptr::eq(known.site, claim.site));
    let more: Vec<RowClaim<'_>> =
        looked_up_claims(inventory).into_iter().filter(|claim| !is_known(claim)).collect();
    found.extend(more);
    found
}

/// Statements that try for a lock of the session whose answer nobody looks at.
pub fn ignored_session_locks(inventory: &Inventory) -> Vec<&SqlSite> {
    let tries = |site: &&SqlSite| site.session_lock.is_some_and(|lock| lock.act == SessionAct::Try);
    inventory.statements.iter().filter(tries).filter(|site| site.reply_dropped && !site.is_test).collect()
}

/// Statements that take a row if it is free, and whose number of changed rows nobody looks at.
pub fn ignored_row_acquires(inventory: &Inventory) -> Vec<&SqlSite> {
    let mut found: Vec<&SqlSite> = Vec::new();
    for row in row_writes(inventory) {
        // A transaction may have read the row before, so that the count says nothing new.
        let dropped = row.site.count == CountUse::Ignored
            && row.site.reply_dropped
            && !row.is_nested
            && !row.site.transaction.open;
        let conditional = match row.write.verb {
            WriteVerb::Update => row.purpose == Purpose::Acquire && !asks_nothing(&row),
            // A row that is only there to be locked by `SELECT … FOR UPDATE` takes nothing by its insertion.
            WriteVerb::Insert | WriteVerb::Upsert => {
                row.profile.is_lock_table && row.write.skips_conflicts && !locks_by_select(inventory, &row)
            }
            _ => false,
        };
        let is_known = row.site.complete && row.site.statement.parsed;
        if dropped && conditional && is_known && !reads_own_rows(inventory, &row) {
            found.push(row.site);
        }
    }
    found
}

/// Whether the code behind a claim reads the rows that carry its own mark: they are its answer.
fn reads_own_rows(inventory: &Inventory, row: &RowWrite<'_>) -> bool {
    let marks = |column: &str| {
        row.profile.is_owner(column)
            && row.write.assignments.iter().any(|a| a.column.eq_ignore_ascii_case(column))
    };
    let is_behind = |site: &&SqlSite| {
        site.function == row.site.function && file(site) == file(row.site) && site.call > row.site.call
    };
    inventory.statements.iter().filter(is_behind).flat_map(|site| selects(&site.statement.kind)).any(
        |select| {
            reads(select, &row.write.table)
                && own_compares(select.predicate.as_ref())
                    .iter()
                    .any(|(column, operator, _)| *operator == Comparison::Equal && marks(column))
        },
    )
}

/// Statements that take a row of a lock table with a constant for its owner, where others compare the owner.
pub fn constant_row_owners(inventory: &Inventory) -> Vec<(RowClaim<'_>, String)> {
    let rows = row_writes(inventory);
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| row.profile.is_lock_table && row.write.verb != WriteVerb::Delete) {
        let Some((column, owner)) = constant_owner(row) else { continue };
        let compared = rows.iter().any(|other| {
            other.site.package == row.site.package
                && other.write.table.name.eq_ignore_ascii_case(&row.write.table.name)
                && matches!(other.purpose, Purpose::Release | Purpose::Renew | Purpose::Protected)
                && other.compares().iter().any(|(name, ..)| name.eq_ignore_ascii_case(column))
        });
        if compared {
            found.push((RowClaim { site: row.site, table: &row.write.table.name, read: None }, owner));
        }
    }
    found
}

/// The owner column that a write fills with a constant, and the constant.
fn constant_owner<'a>(row: &RowWrite<'a>) -> Option<(&'a str, String)> {
    row.filled()
        .filter(|(column, _)| row.profile.is_owner(column))
        .find_map(|(column, value)| Some((column, literal(row.site, value)?)))
}

/// Whether nothing in the statement asks if the rows are still free.
pub(super) fn asks_nothing(row: &RowWrite<'_>) -> bool {
    if row.write.verb == WriteVerb::Upsert {
        return row.profile.is_lock_table && !row.write.skips_conflicts && row.is_open_upsert();
    }
    let profile = row.profile;
    let lease = |c: &str| {
        naming::is_state(c)
            || profile.is_owner(c)
            || profile.is_deadline(c)
            || profile.is_claim_time(c)
            || profile.is_token(c)
    };
    row.write.verb == WriteVerb::Update
        && row.site.complete
        && row.site.statement.parsed
        && picks_row(row.write)
        && inner_selects(row.write).is_empty()
        && row.write.sources.is_empty()
        && row.write.predicate.as_ref().is_some_and(|predicate| !names(predicate, &lease))
}

fn names(e: &Expr, test: &dyn Fn(&str) -> bool) -> bool {
    match &e.kind {
        ExprKind::Column { name, .. } => test(name),
        _ => e.kind.parts().into_iter().any(|part| names(part, test)),
    }
}

/// The file of the code that runs a statement.
fn file(site: &SqlSite) -> Option<FileId> {
    site.call.map(|call| call.file)
}

/// Whether the package locks rows of the table by reading them.
fn locks_by_select(inventory: &Inventory, row: &RowWrite<'_>) -> bool {
    let here = inventory.statements.iter().filter(|site| site.package == row.site.package);
    here.flat_map(|site| selects(&site.statement.kind))
        .any(|select| select.locks_rows && reads(select, &row.write.table))
}

pub(super) fn has_locked(row: &RowWrite<'_>) -> bool {
    let scope = &row.site.transaction;
    // In SQLite, a transaction that has read cannot write once another one has written.
    let serial = scope.open && row.site.dialect == Dialect::Sqlite;
    serial || contains(&scope.locked_tables, &row.write.table.name) || scope.advisory_lock
}

/// A read of the table that asks for free rows and does not lock them.
fn unlocked_read(inventory: &Inventory, row: &RowWrite<'_>) -> Option<Location> {
    let is_free = |site: &&SqlSite| {
        let StatementKind::Select(_) = &site.statement.kind else { return false };
        !site.is_test
            && site.package == row.site.package
            && (site.function == row.site.function || file(site) == file(row.site))
            && !site.transaction.advisory_lock
            && selects(&site.statement.kind).iter().any(|select| {
                let same = select.sources.iter().any(|source| match &source.kind {
                    SourceKind::Table(table) => table.name.eq_ignore_ascii_case(&row.write.table.name),
                    _ => false,
                });
                same && !select.locks_rows
            })
    };
    inventory.statements.iter().find(is_free).map(SqlSite::location)
}
