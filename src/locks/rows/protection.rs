//! What protects a row from the stale holder of its lease, from the strongest to nothing.

use super::{Protection, RowWrite};
use crate::facts::sql::{TableName, WriteVerb};
use crate::locks::guard::{self, Question, Verdict};
use crate::locks::naming::TokenTier;
use crate::locks::tables::{self, TokenColumn, TokenKind, contains};
use crate::locks::{Inventory, fences, naming};

pub(super) fn of<'a>(inventory: &Inventory, row: &RowWrite<'a>) -> Protection<'a> {
    let mut loose = None;
    for token in row.profile.tokens.iter().filter(|t| t.kind != TokenKind::Identity) {
        match judge(inventory, row, &token.name) {
            Verdict::Guarded(guard) => return Protection::Fenced { token, guard },
            Verdict::Loose(found) => loose = loose.or(Some((token.name.clone(), found))),
            Verdict::Absent => {}
        }
    }
    for column in holders(row) {
        match judge(inventory, row, &column) {
            Verdict::Guarded(guard) => return Protection::Held { column, guard },
            Verdict::Loose(found) if found.reason == guard::LooseReason::OrAround => {
                loose = loose.or(Some((column, found)));
            }
            _ => {}
        }
    }
    if refused_elsewhere(row) {
        return Protection::Elsewhere;
    }
    match loose {
        Some((column, looseness)) => Protection::Loose { column, looseness },
        None if names_other_row(inventory, row) => Protection::Elsewhere,
        None => Protection::Open,
    }
}

/// The token that a write should compare.
pub(super) fn demanded<'a>(row: &RowWrite<'a>) -> Option<&'a TokenColumn> {
    row.profile.tokens.iter().find(|t| t.kind != TokenKind::Identity && covers(t, row))
}

/// Whether a version is that of what the write sets: `state_generation` counts changes of `state` and of
/// what else is called so, and says nothing of the other columns.
fn covers(token: &TokenColumn, row: &RowWrite<'_>) -> bool {
    let counts_all = matches!(token.tier, TokenTier::Fence | TokenTier::Lease);
    let words = naming::words(&token.name);
    let Some((_, of)) = words.split_last().filter(|(_, of)| !of.is_empty() && !counts_all) else {
        return true;
    };
    let is_of =
        |column: &str| !column.eq_ignore_ascii_case(&token.name) && naming::words(column).starts_with(of);
    let named = row.table.is_some_and(|table| table.columns.iter().any(|column| is_of(&column.name)));
    let sets_one = || row.write.assignments.iter().any(|assignment| is_of(&assignment.column));
    !named || row.write.verb != WriteVerb::Update || sets_one()
}

fn judge(inventory: &Inventory, row: &RowWrite<'_>, column: &str) -> Verdict {
    let has_column = |t: &TableName, c: &str| tables::has_column(inventory, row.site, t, c);
    guard::judge(Question {
        write: row.write,
        dialect: row.site.dialect,
        column,
        outer_ctes: row.nested.outer_ctes,
        has_column: &has_column,
    })
}

/// Columns whose equality shows that the holder is still the holder.
fn holders(row: &RowWrite<'_>) -> Vec<String> {
    let profile = row.profile;
    let identities = profile.tokens.iter().filter(|t| t.kind == TokenKind::Identity).map(|t| t.name.clone());
    let mut found: Vec<String> = profile.owners.iter().cloned().chain(identities).collect();
    found.extend(profile.claim_times.iter().cloned());
    let used = tables::used_columns(row.write);
    // The generation of a lease names its holder, whatever the column is called.
    let grant = |c: &str| row.is_leased() && naming::token_tier(c).is_some();
    let named =
        |c: &str| naming::is_attempt(c) || naming::is_owner(c) || naming::is_weak_owner(c) || grant(c);
    let more = used.iter().filter(|c| named(c));
    found.extend(more.filter(|c| !contains(&found, c)).map(|c| (*c).to_owned()).collect::<Vec<_>>());
    found
}

/// A lease row that the statement checks, although the table's own columns are not compared.
fn names_other_row(inventory: &Inventory, row: &RowWrite<'_>) -> bool {
    let probe = judge(inventory, row, "");
    matches!(probe, Verdict::Guarded(_))
}

/// A trigger, the transaction or the session refuses stale writers.
fn refused_elsewhere(row: &RowWrite<'_>) -> bool {
    let scope = &row.site.transaction;
    let table = &row.write.table.name;
    contains(&scope.locked_tables, table)
        || !scope.checked_tables.is_empty()
        || scope.advisory_lock
        || trigger_refuses(row)
        // The migration that took the trigger away is the defect, not each statement that relied on it.
        || row.table.is_some_and(|table| fences::was_refused(table, row.write))
}

fn trigger_refuses(row: &RowWrite<'_>) -> bool {
    let Some(table) = row.table else { return false };
    if matches!(row.write.verb, WriteVerb::Delete | WriteVerb::Replace) {
        return false;
    }
    let sets = |column: &str| row.write.assignments.iter().any(|a| a.column.eq_ignore_ascii_case(column));
    table.triggers.iter().any(|trigger| {
        let fires = trigger.of_columns.is_empty() || trigger.of_columns.iter().any(|c| sets(c));
        let refuses = |c: &String| sets(c) || !contains(&trigger.tolerates_equal, c);
        fires && trigger.refuses_stale.iter().any(refuses)
    })
}
