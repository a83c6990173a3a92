//! Owner values of rows that are stored and never compared.

use super::{Purpose, RowWrite, row_writes};
use crate::facts::sql::{Expr, ExprKind, StatementKind, WriteVerb};
use crate::locks::tables::{TableProfile, contains, selects};
use crate::locks::{Inventory, SqlSite};

/// A statement that takes rows of a table and stores who has them, in this column.
#[derive(Debug, Clone)]
pub struct UncomparedOwner<'a> {
    pub site: &'a SqlSite,
    pub table: &'a str,
    pub column: &'a str,
}

/// Statements that store an owner or token with a row, where no statement of the package compares one, and
/// none changes the row later: those speak for themselves.
pub fn uncompared_row_owners(inventory: &Inventory) -> Vec<UncomparedOwner<'_>> {
    let rows = row_writes(inventory);
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| takes(row)) {
        let same_table = |other: &&RowWrite<'_>| {
            other.site.package == row.site.package
                && other.write.table.name.eq_ignore_ascii_case(&row.write.table.name)
        };
        let changed_later = rows.iter().filter(same_table).any(|other| {
            matches!(other.purpose, Purpose::Release | Purpose::Renew)
                || (other.purpose == Purpose::Protected && !takes(other))
        });
        let Some(column) = stored_owner(row) else { continue };
        if !changed_later && !is_compared(inventory, row) {
            found.push(UncomparedOwner { site: row.site, table: &row.write.table.name, column });
        }
    }
    found
}

fn takes(row: &RowWrite<'_>) -> bool {
    let inserts = matches!(row.write.verb, WriteVerb::Insert | WriteVerb::Upsert);
    !row.is_nested
        && row.site.statement.parsed
        && row.profile.is_lock_table
        && (row.purpose == Purpose::Acquire || inserts)
}

/// The owner or token column that a write fills with a value of the program.
fn stored_owner<'a>(row: &RowWrite<'a>) -> Option<&'a str> {
    row.filled()
        // A host name or worker number may be there for people; a token is there to be compared.
        .filter(|(column, _)| {
            column.to_ascii_lowercase().split('_').any(|word| word == "token" || word == "nonce")
        })
        .find(|(column, value)| names_owner(row.profile, column) && matches!(value.kind, ExprKind::Bind(_)))
        .map(|(column, _)| column)
}

fn names_owner(profile: &TableProfile, column: &str) -> bool {
    profile.is_owner(column) || profile.is_token(column)
}

/// Whether any statement of the package compares an owner or token of the row's table.
fn is_compared(inventory: &Inventory, row: &RowWrite<'_>) -> bool {
    let names: Vec<String> = row
        .profile
        .owners
        .iter()
        .cloned()
        .chain(row.profile.tokens.iter().map(|token| token.name.clone()))
        .collect();
    let in_condition = |e: &Option<Expr>| e.as_ref().is_some_and(|e| compares(e, &names));
    inventory.statements.iter().filter(|site| site.package == row.site.package).any(|site| {
        let written = match &site.statement.kind {
            StatementKind::Write(write) => in_condition(&write.predicate),
            _ => false,
        };
        written || selects(&site.statement.kind).iter().any(|select| in_condition(&select.predicate))
    })
}

/// Whether a condition compares one of these columns with a value.
fn compares(e: &Expr, names: &[String]) -> bool {
    match &e.kind {
        ExprKind::Compare { left, right, .. } => [left, right].into_iter().any(|side| is_one_of(side, names)),
        ExprKind::InList { operand, .. } | ExprKind::InQuery { operand, .. } => is_one_of(operand, names),
        _ => e.kind.parts().into_iter().any(|part| compares(part, names)),
    }
}

fn is_one_of(e: &Expr, names: &[String]) -> bool {
    matches!(&e.kind, ExprKind::Column { name, .. } if contains(names, name))
}
