//! The verdict on each write to a row that a lease or a token protects.
//!
//! Puts together what the table is ([`super::tables`]), what the statement's conditions refuse
//! ([`super::guard`]), and what the transaction around it has done. The rules on SQL turn these verdicts
//! into findings, each defect into one.

mod claims;
mod clocks;
mod drawn_tokens;
mod looked_up;
mod lookups;
mod overwrites;
mod owners;
mod protection;
mod purpose;
mod renewals;

pub use claims::{
    RowClaim, constant_row_owners, ignored_row_acquires, ignored_session_locks, unguarded_row_claims,
};

pub use clocks::{ClientClock, client_clocks};
pub use drawn_tokens::{DrawnToken, drawn_tokens};
pub use overwrites::Overwrite;
pub use owners::{UncomparedOwner, uncompared_row_owners};
pub use renewals::{AddedSpan, RowLease, renewal_statements, row_leases};

use std::collections::BTreeMap;

use super::Inventory;
use super::guard::{Guard, Looseness};
use super::naming;
use super::schema::Table;
use super::statement::{SqlSite, StatementOrigin};
use super::tables::{NestedWrite, TableProfile, TokenColumn, writes};
use crate::facts::sql::{Comparison, Expr, ExprKind, Write, WriteVerb};

/// One write of one statement.
#[derive(Debug, Clone, Copy)]
pub struct RowWrite<'a> {
    pub site: &'a SqlSite,
    pub write: &'a Write,
    pub profile: &'a TableProfile,
    pub table: Option<&'a Table>,
    pub purpose: Purpose,
    /// It stands in a CTE, so that the statement's count is not its own.
    pub is_nested: bool,
    nested: NestedWrite<'a>,
}

/// What a write is for, as far as locking goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Takes the row's lease, or takes it over.
    Acquire,
    /// Gives the lease up.
    Release,
    /// Moves the deadline of a lease.
    Renew,
    /// Frees or deletes rows by their age or final state, whoever held them.
    Sweep,
    /// Changes tokens and timestamps of the row and nothing else, or asks its worker for something.
    Bookkeeping,
    /// Changes what the lease protects.
    Protected,
}

/// What stands between a stale holder and the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection<'a> {
    /// A token or version is compared.
    Fenced { token: &'a TokenColumn, guard: Guard },
    /// The holder or attempt is compared.
    Held { column: String, guard: Guard },
    /// A token or holder is compared, and stale writers pass.
    Loose { column: String, looseness: Looseness },
    /// Nothing is compared.
    Open,
    /// The database, the transaction or the session refuses stale writers.
    Elsewhere,
}

/// Every write that touches a table with tokens or leases, back-fills and tests left out.
pub fn row_writes(inventory: &Inventory) -> Vec<RowWrite<'_>> {
    let tables = inventory.tables();
    let mut found = Vec::new();
    for site in inventory.statements.iter().filter(|s| s.is_at_runtime()) {
        for (at, nested) in writes(&site.statement.kind).into_iter().enumerate() {
            let Some(profile) = tables.profile(site, &nested.write.table) else { continue };
            if changes_nothing(nested.write) {
                continue;
            }
            let table = inventory.schema.table(site.package, site.dialect, &nested.write.table);
            let purpose = purpose::of(site, nested.write, profile);
            let is_nested =
                at > 0 || !matches!(site.statement.kind, crate::facts::sql::StatementKind::Write(_));
            found.push(RowWrite { site, write: nested.write, profile, table, purpose, is_nested, nested });
        }
    }
    found
}

/// An upsert that sets columns to what they are, so that the row which is there already comes back.
fn changes_nothing(write: &Write) -> bool {
    write.verb == WriteVerb::Upsert
        && !write.assignments.is_empty()
        && write.assignments.iter().all(|a| purpose::keeps(&a.value, &a.column))
}

impl<'a> RowWrite<'a> {
    pub fn protection(&self, inventory: &Inventory) -> Protection<'a> {
        protection::of(inventory, self)
    }

    /// The token that this write should compare: the surest one that is ordered or a version.
    pub fn token(&self) -> Option<&'a TokenColumn> {
        protection::demanded(self)
    }

    /// A worker's last word on a row that it was given and may have lost.
    pub fn finishes_claim(&self) -> bool {
        purpose::finishes_claim(self.site, self.write, self.profile) && !self.deletes_by_other_key()
    }

    /// It deletes all the rows that belong to something else: nobody's last word on one row.
    fn deletes_by_other_key(&self) -> bool {
        let Some(table) = self.table.filter(|table| !table.primary_key.is_empty()) else { return false };
        let used = super::tables::used_columns(self.write);
        let compares = |key: &[String]| key.iter().all(|c| used.iter().any(|u| u.eq_ignore_ascii_case(c)));
        self.write.verb == WriteVerb::Delete
            && !used.is_empty()
            && !compares(&table.primary_key)
            && !table.unique.iter().any(|key| compares(&key.columns))
    }

    /// Whether rows of the table have holders who may lose them.
    pub fn has_holders(&self) -> bool {
        self.profile.handed_out || self.profile.is_lock_table || self.is_leased()
    }

    /// Whether both write to one table of one package.
    pub fn shares_table(&self, other: &RowWrite<'_>) -> bool {
        self.site.package == other.site.package
            && self.write.table.name.eq_ignore_ascii_case(&other.write.table.name)
    }

    /// The columns that it fills, with their values: those of a new row, and those that it changes.
    pub fn filled(&self) -> impl Iterator<Item = (&'a str, &'a Expr)> {
        let inserted = self.write.insert_columns.iter().map(String::as_str).zip(&self.write.insert_values);
        inserted.chain(self.write.assignments.iter().map(|a| (a.column.as_str(), &a.value)))
    }

    /// Comparisons of columns in the statement's own condition, read as `column OP other`.
    pub fn compares(&self) -> Vec<(&'a str, Comparison, &'a Expr)> {
        super::tables::own_compares(self.write.predicate.as_ref())
    }

    /// A trigger that keeps a sum up to date: it follows the statement that fired it, in its transaction.
    pub fn keeps_a_sum(&self) -> bool {
        let counts = |a: &crate::facts::sql::Assignment| match &a.value.kind {
            ExprKind::Arithmetic { operator: '+' | '-', left, .. } => {
                matches!(&left.kind, ExprKind::Column { name, .. } if name.eq_ignore_ascii_case(&a.column))
            }
            _ => naming::is_audit(&a.column),
        };
        self.site.origin == StatementOrigin::Trigger && self.write.assignments.iter().all(counts)
    }

    /// Whether the condition names the row's state.
    pub fn compares_state(&self) -> bool {
        self.compares().iter().any(|(c, ..)| naming::is_state(c))
    }

    /// Whether a trigger sets this column by itself.
    pub fn trigger_advances(&self, column: &str) -> bool {
        self.table.is_some_and(|t| t.triggers.iter().any(|g| super::tables::contains(&g.advances, column)))
    }

    /// Whether a statement that could not be read in full names one of these columns somewhere.
    pub fn mentions_any(&self) -> bool {
        let used = super::tables::used_columns(self.write);
        let profile = self.profile;
        used.iter().any(|c| profile.is_owner(c) || profile.is_token(c))
    }

    /// Whether a column tells who has the row for the time being. `owner_id` does so only where rows are
    /// taken: elsewhere it says whose the thing is.
    pub fn is_holder(&self, column: &str) -> bool {
        let strong = naming::is_owner(column) || self.profile.is_token(column);
        strong || self.profile.handed_out || self.is_leased()
    }

    /// Whether a value is one that the statement reads itself, such as a column of a CTE, and that depends on
    /// nothing of that kind that the caller brings along.
    pub fn looks_up(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Query(_) => true,
            ExprKind::Column { qualifier: Some(qualifier), name } => {
                lookups::reads_rows(self.write, self.nested.outer_ctes, qualifier, name)
            }
            _ => false,
        }
    }

    /// It takes the lease of a row, or puts in a row that must not be there yet: a lock that is taken by that.
    pub fn takes_lease(&self) -> bool {
        let inserts =
            self.profile.is_lock_table && matches!(self.write.verb, WriteVerb::Insert | WriteVerb::Upsert);
        (self.purpose == Purpose::Acquire && self.holds_leases()) || inserts
    }

    /// The table is one of locks, or has columns of leases.
    pub fn holds_leases(&self) -> bool {
        self.profile.is_lock_table || self.profile.has_lease_columns()
    }

    /// The row's table has leases that anyone could lose.
    fn is_leased(&self) -> bool {
        let profile = self.profile;
        let timed = !profile.deadlines.is_empty() || !profile.claim_times.is_empty();
        let owned = !profile.owners.is_empty();
        // An account is locked against its user, and nobody's; one that others take back is a worker's.
        let is_work = profile.taken_back || !naming::is_account_table(&self.write.table.name);
        (profile.is_lock_table && (timed || owned))
            || (is_work && ((profile.handed_out && timed) || profile.has_lease_columns()))
    }

    fn is_unguarded(&self, inventory: &Inventory) -> bool {
        let open = matches!(self.protection(inventory), Protection::Open | Protection::Loose { .. });
        open && self.site.complete && self.site.statement.parsed
    }

    /// An upsert that overwrites whatever row is there.
    fn is_open_upsert(&self) -> bool {
        self.write.predicate.is_none()
            && self.write.assignments.iter().all(|a| {
                matches!(
                    a.value.kind,
                    ExprKind::InsertedValue { .. }
                        | ExprKind::Bind(_)
                        | ExprKind::Hole
                        | ExprKind::Column { .. }
                        | ExprKind::Call { .. }
                        | ExprKind::Arithmetic { .. }
                )
            })
    }

    fn is_administrative(&self) -> bool {
        self.site.function.as_deref().is_some_and(naming::is_administrative)
    }
}

/// The statements that take leases of rows, by their number, with the table.
pub fn row_acquires(inventory: &Inventory) -> BTreeMap<usize, &str> {
    let numbers: BTreeMap<*const SqlSite, usize> =
        inventory.statements.iter().enumerate().map(|(at, site)| (std::ptr::from_ref(site), at)).collect();
    let rows = row_writes(inventory).into_iter().filter(|row| row.takes_lease() && row.is_leased());
    rows.filter_map(|row| {
        let number = numbers.get(&std::ptr::from_ref(row.site))?;
        Some((*number, row.write.table.name.as_str()))
    })
    .collect()
}

/// Statements that free a lock row, or the lease columns of a row, without asking who holds it.
pub fn unguarded_row_releases(inventory: &Inventory) -> Vec<&SqlSite> {
    of_purpose(inventory, Purpose::Release)
}

/// Statements that move the deadline of a lease without asking who holds it.
pub fn unguarded_row_renewals(inventory: &Inventory) -> Vec<&SqlSite> {
    of_purpose(inventory, Purpose::Renew)
}

fn of_purpose(inventory: &Inventory, purpose: Purpose) -> Vec<&SqlSite> {
    let mut found: Vec<&SqlSite> = Vec::new();
    for row in row_writes(inventory) {
        let is_one = row.purpose == purpose
            && row.is_leased()
            && !row.is_administrative()
            && row.is_unguarded(inventory);
        if is_one && !found.iter().any(|s| std::ptr::eq(*s, row.site)) {
            found.push(row.site);
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod tests;
