//! Statements that move the deadline of a lease: whether they compare the holder, and by how much.

use super::{Purpose, row_writes};
use crate::facts::sql::{Bind, Expr, ExprKind};
use crate::locks::{Inventory, SqlSite, naming};

/// Every statement that renews the lease of a row: its table, the time that it adds in milliseconds, and
/// whether it compares the holder.
pub fn renewal_statements(inventory: &Inventory) -> Vec<(&SqlSite, &str, Option<i128>, bool)> {
    let rows = row_writes(inventory);
    let renewals = rows.into_iter().filter(|row| row.purpose == Purpose::Renew && row.is_leased());
    renewals
        .map(|row| {
            let deadline = row.write.assignments.iter().find(|a| row.profile.is_deadline(&a.column));
            let ttl = deadline.and_then(|deadline| added_millis(&deadline.value));
            (row.site, row.write.table.name.as_str(), ttl, !row.is_unguarded(inventory))
        })
        .collect()
}

/// A statement that moves the deadline of a row's lease by the database's own clock.
#[derive(Debug, Clone, Copy)]
pub struct RowLease<'a> {
    /// Its position in [`Inventory::statements`].
    pub statement: usize,
    pub site: &'a SqlSite,
    pub table: &'a str,
    pub is_renewal: bool,
    pub span: AddedSpan<'a>,
}

/// How long a lease lasts that a statement gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedSpan<'a> {
    Millis(i128),
    /// A parameter; a plain number counts so many milliseconds.
    Bound(&'a Bind, i128),
}

/// Every statement that gives a lease on a row for a span of time.
pub fn row_leases(inventory: &Inventory) -> Vec<RowLease<'_>> {
    let rows = row_writes(inventory);
    let leases = rows.into_iter().filter(super::RowWrite::is_leased).filter_map(|row| {
        let mut ends = row.filled().filter(|(column, _)| row.profile.is_deadline(column));
        let span = ends.find_map(|(_, value)| added(value))?;
        let statement = inventory.statements.iter().position(|site| std::ptr::eq(site, row.site))?;
        let (table, is_renewal) = (row.write.table.name.as_str(), row.purpose == Purpose::Renew);
        Some(RowLease { statement, site: row.site, table, is_renewal, span })
    });
    leases.collect()
}

/// The span of time in an expression such as `now() + interval '30 seconds'`.
fn added_millis(e: &Expr) -> Option<i128> {
    match added(e)? {
        AddedSpan::Millis(millis) => Some(millis),
        AddedSpan::Bound(..) => None,
    }
}

fn added(e: &Expr) -> Option<AddedSpan<'_>> {
    match &e.kind {
        ExprKind::Call { name, args } if name == "interval" => match args.as_slice() {
            [amount] => span_of_text(text(amount)?).map(AddedSpan::Millis),
            [amount, unit] => match &uncast(amount).kind {
                ExprKind::Bind(bind) => Some(AddedSpan::Bound(bind, span("1", text(unit)?)?)),
                _ => span(&text_or_number(amount)?, text(unit)?).map(AddedSpan::Millis),
            },
            _ => None,
        },
        ExprKind::Cast { operand, data_type } if data_type.starts_with("interval") => {
            span_of_text(text(operand)?).map(AddedSpan::Millis)
        }
        // SQLite: `datetime('now', '+30 seconds')`.
        ExprKind::Text(text) if text.starts_with('+') => {
            span_of_text(text.trim_start_matches('+')).map(AddedSpan::Millis)
        }
        ExprKind::Arithmetic { operator, left, right } => {
            bound_part(*operator, left, right).or_else(|| added(left)).or_else(|| added(right))
        }
        _ => e.kind.parts().into_iter().find_map(added),
    }
}

/// `$3 * interval '1 second'`, `now() + $3`.
fn bound_part<'e>(operator: char, left: &'e Expr, right: &'e Expr) -> Option<AddedSpan<'e>> {
    let is_clock =
        |e: &Expr| matches!(&e.kind, ExprKind::Call { name, .. } if naming::is_database_clock(name));
    match (operator, &uncast(left).kind, &uncast(right).kind) {
        ('*', ExprKind::Bind(bind), _) => Some(AddedSpan::Bound(bind, added_millis(right)?)),
        ('*', _, ExprKind::Bind(bind)) => Some(AddedSpan::Bound(bind, added_millis(left)?)),
        ('+', _, ExprKind::Bind(bind)) if is_clock(left) => Some(AddedSpan::Bound(bind, 1)),
        _ => None,
    }
}

fn uncast(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast { operand, .. } => operand,
        _ => e,
    }
}

fn text(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Text(text) => Some(text),
        _ => None,
    }
}

fn text_or_number(e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Text(text) | ExprKind::Number(text) => Some(text.clone()),
        _ => None,
    }
}

/// `30 seconds`, `1 minute`; nothing longer.
fn span_of_text(text: &str) -> Option<i128> {
    let mut words = text.split_whitespace();
    let (amount, unit) = (words.next()?, words.next()?);
    words.next().is_none().then(|| span(amount, unit)).flatten()
}

fn span(amount: &str, unit: &str) -> Option<i128> {
    let amount: i128 = amount.parse().ok()?;
    let unit = match unit.to_ascii_lowercase().trim_end_matches('s') {
        "millisecond" => 1,
        "second" | "sec" => 1000,
        "minute" | "min" => 60_000,
        "hour" => 3_600_000,
        "day" => 86_400_000,
        _ => return None,
    };
    amount.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::sql::{Dialect, StatementKind};

    fn millis(dialect: Dialect, value: &str) -> Option<i128> {
        let text = format!("UPDATE leases SET expires_at = {value} WHERE id = 1");
        let parsed = crate::sql::parse(&text, dialect).statements;
        match &parsed.first()?.kind {
            StatementKind::Write(write) => added_millis(&write.assignments.first()?.value),
            _ => None,
        }
    }

    #[test]
    fn each_dialect_says_it_in_its_own_way() {
        assert_eq!(millis(Dialect::Postgres, "now() + interval '30 seconds'"), Some(30_000));
        assert_eq!(millis(Dialect::Postgres, "now() + '1 minute'::interval"), Some(60_000));
        assert_eq!(millis(Dialect::MySql, "NOW(6) + INTERVAL 45 SECOND"), Some(45_000));
        assert_eq!(millis(Dialect::MySql, "DATE_ADD(NOW(), INTERVAL 2 MINUTE)"), Some(120_000));
        assert_eq!(millis(Dialect::Sqlite, "datetime('now', '+90 seconds')"), Some(90_000));
        assert_eq!(millis(Dialect::Postgres, "now() + make_interval(secs => 40)"), Some(40_000));
        assert_eq!(millis(Dialect::Postgres, "now() + $2"), None);
    }
}
