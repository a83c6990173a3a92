//! Columns that name a row's holder by how they are used, whatever they are called: the statement that takes
//! an expired row stores a value of the caller's there, and another statement changes the row only while the
//! value is still there. It learns owners and nothing else.

use std::collections::BTreeSet;

use super::evidence::is_given;
use super::walk::{NestedWrite, inner_selects, is_before, own_compares, writes};
use super::{Key, TableProfile, Tables, key};
use crate::facts::sql::{Comparison, Expr, ExprKind, Write, WriteVerb};
use crate::locks::Inventory;
use crate::locks::naming;
use crate::locks::statement::SqlSite;

/// A column of a table, in lower case.
type Column = (Key, String);

/// Adds what the statements show to the profiles of tables whose rows have a deadline.
pub(super) fn learn(tables: &mut Tables, inventory: &Inventory, sites: &[&SqlSite]) {
    let mut stored: BTreeSet<Column> = BTreeSet::new();
    let mut compared: BTreeSet<Column> = BTreeSet::new();
    for site in sites {
        for NestedWrite { write, .. } in writes(&site.statement.kind) {
            let Some(profile) = tables.profile(site, &write.table) else { continue };
            let column = |name: &str| (key(site, &write.table), name.to_lowercase());
            if takes_expired(profile, write) {
                let own = given_columns(write).filter(|name| is_plain(profile, inventory, site, write, name));
                stored.extend(own.map(column));
            }
            compared.extend(asked_columns(write).map(column));
        }
    }
    for (table, column) in stored.intersection(&compared) {
        if let Some(profile) = tables.profiles.get_mut(table)
            && !profile.is_owner(column)
        {
            profile.owners.push(column.clone());
        }
    }
}

/// Whether a write moves the deadline of rows whose deadline is over, or that have none.
fn takes_expired(profile: &TableProfile, write: &Write) -> bool {
    let deadline = |name: &str| profile.is_deadline(name) || naming::is_deadline(name);
    let moves = |name: &str| write.assignments.iter().any(|a| a.column.eq_ignore_ascii_case(name));
    let inner = inner_selects(write);
    let conditions = write.predicate.iter().chain(inner.iter().filter_map(|s| s.predicate.as_ref()));
    let over = |e: &Expr| {
        own_compares(Some(e))
            .iter()
            .any(|(name, operator, _)| is_before(*operator) && deadline(name) && moves(name))
    };
    conditions.into_iter().any(over)
}

/// The columns that a write fills with values of the caller.
fn given_columns(write: &Write) -> impl Iterator<Item = &str> {
    write.assignments.iter().filter(|a| is_given(&a.value)).map(|a| a.column.as_str())
}

/// Neither a time, a state nor a counter, and no part of what names the row.
fn is_plain(
    profile: &TableProfile,
    inventory: &Inventory,
    site: &SqlSite,
    write: &Write,
    column: &str,
) -> bool {
    let schema = inventory.schema.table(site.package, site.dialect, &write.table);
    let in_key = schema.is_some_and(|table| table.is_key_part(column));
    let counts = naming::is_attempt(column) || naming::is_audit(column) || naming::is_finish_mark(column);
    let of_lease = profile.is_token(column) || profile.is_deadline(column) || naming::is_time(column);
    !(in_key || counts || of_lease || naming::is_state(column))
}

/// The columns that must equal a value of the caller for a write to change the row, and that it leaves as
/// they are or empties.
fn asked_columns(write: &Write) -> impl Iterator<Item = &str> {
    let changes = matches!(write.verb, WriteVerb::Update | WriteVerb::Delete);
    let mut asked = Vec::new();
    if let Some(predicate) = write.predicate.as_ref().filter(|_| changes) {
        demanded(predicate, &mut asked);
    }
    let fills = |name: &str| given_columns(write).any(|filled| filled.eq_ignore_ascii_case(name));
    asked.into_iter().filter(move |name| !fills(name))
}

/// The comparisons for equality without which a condition cannot hold.
fn demanded<'e>(e: &'e Expr, found: &mut Vec<&'e str>) {
    match &e.kind {
        ExprKind::And(list) => list.iter().for_each(|part| demanded(part, found)),
        ExprKind::Compare { operator: Comparison::Equal | Comparison::EqualOrBothNull, left, right } => {
            for (column, value) in [(left, right), (right, left)] {
                if let ExprKind::Column { name, .. } = &column.kind
                    && is_given(value)
                {
                    found.push(name);
                }
            }
        }
        _ => {}
    }
}
