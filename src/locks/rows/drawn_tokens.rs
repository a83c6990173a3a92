//! Fencing tokens and versions that processes draw by themselves, from a clock or by chance, where statements
//! compare them for order.

use super::{Protection, RowWrite, row_writes};
use crate::facts::Location;
use crate::facts::sql::{Expr, ExprKind};
use crate::locks::guard::GuardKind;
use crate::locks::{Drawn, Inventory, SqlSite};

/// A token that nothing has counted.
#[derive(Debug, Clone)]
pub struct DrawnToken<'a> {
    pub table: &'a str,
    pub column: &'a str,
    pub drawn: Drawn,
    /// The statement that it is bound to.
    pub site: &'a SqlSite,
    /// Where tokens of this column are compared for order.
    pub compared_at: Location,
}

/// Every such token, once for each statement that it is bound to.
pub fn drawn_tokens(inventory: &Inventory) -> Vec<DrawnToken<'_>> {
    let rows = row_writes(inventory);
    let ordered: Vec<(&RowWrite<'_>, &str, Location)> = rows
        .iter()
        .filter_map(|row| match row.protection(inventory) {
            Protection::Fenced { token, guard }
                if matches!(guard.how, GuardKind::Less | GuardKind::LessOrEqual) =>
            {
                Some((row, token.name.as_str(), row.site.at(guard.span)))
            }
            _ => None,
        })
        .collect();
    let mut found: Vec<DrawnToken<'_>> = Vec::new();
    for row in &rows {
        let Some((_, column, compared_at)) = ordered.iter().find(|(other, ..)| row.shares_table(other))
        else {
            continue;
        };
        let Some((column, drawn)) = drawn_in(row, column) else { continue };
        let table = row.write.table.name.as_str();
        found.push(DrawnToken { table, column, drawn, site: row.site, compared_at: *compared_at });
    }
    found
}

/// What a write stores in the column, or compares it with, when its process has drawn it.
fn drawn_in<'a>(row: &RowWrite<'a>, column: &str) -> Option<(&'a str, Drawn)> {
    let filled = row.filled();
    let compared = row.compares().into_iter().map(|(name, _, value)| (name, value));
    let mut values = filled.chain(compared).filter(|(name, _)| name.eq_ignore_ascii_case(column));
    values.find_map(|(name, value)| Some((name, drawn(row.site, value)?)))
}

fn drawn(site: &SqlSite, value: &Expr) -> Option<Drawn> {
    match &value.kind {
        ExprKind::Cast { operand, .. } => drawn(site, operand),
        ExprKind::Bind(bind) => site.bound(bind)?.drawn,
        _ => None,
    }
}
