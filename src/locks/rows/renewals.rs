//! Statements that move the deadline of a lease: whether they compare the holder, and by how much.

use super::{Purpose, row_writes};
use crate::facts::sql::{Expr, ExprKind};
use crate::locks::{Inventory, SqlSite};

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

/// The span of time in an expression such as `now() + interval '30 seconds'`.
fn added_millis(e: &Expr) -> Option<i128> {
    match &e.kind {
        ExprKind::Call { name, args } if name == "interval" => match args.as_slice() {
            [amount] => span_of_text(text(amount)?),
            [amount, unit] => span(&text_or_number(amount)?, text(unit)?),
            _ => None,
        },
        ExprKind::Cast { operand, data_type } if data_type.starts_with("interval") => {
            span_of_text(text(operand)?)
        }
        // SQLite: `datetime('now', '+30 seconds')`.
        ExprKind::Text(text) if text.starts_with('+') => span_of_text(text.trim_start_matches('+')),
        _ => e.kind.parts().into_iter().find_map(added_millis),
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

    fn added(dialect: Dialect, value: &str) -> Option<i128> {
        let text = format!("UPDATE leases SET expires_at = {value} WHERE id = 1");
        let parsed = crate::sql::parse(&text, dialect).statements;
        match &parsed.first()?.kind {
            StatementKind::Write(write) => added_millis(&write.assignments.first()?.value),
            _ => None,
        }
    }

    #[test]
    fn each_dialect_says_it_in_its_own_way() {
        assert_eq!(added(Dialect::Postgres, "now() + interval '30 seconds'"), Some(30_000));
        assert_eq!(added(Dialect::Postgres, "now() + '1 minute'::interval"), Some(60_000));
        assert_eq!(added(Dialect::MySql, "NOW(6) + INTERVAL 45 SECOND"), Some(45_000));
        assert_eq!(added(Dialect::MySql, "DATE_ADD(NOW(), INTERVAL 2 MINUTE)"), Some(120_000));
        assert_eq!(added(Dialect::Sqlite, "datetime('now', '+90 seconds')"), Some(90_000));
        assert_eq!(added(Dialect::Postgres, "now() + $2"), None);
    }
}
