//! Lease columns that hold moments of a client's clock: which statement writes or compares one, and whether
//! the database's own clock is used on the same column.

use super::{RowWrite, row_writes};
use crate::facts::Location;
use crate::facts::sql::{Comparison, Dialect, Expr, ExprKind};
use crate::locks::tables::{inner_selects, own_compares};
use crate::locks::{Inventory, SqlSite, naming};

/// A lease's deadline, or the time of a claim, that a worker's own clock decides on.
#[derive(Debug, Clone)]
pub struct ClientClock<'a> {
    pub site: &'a SqlSite,
    pub table: &'a str,
    pub column: String,
    /// Where the clock is read.
    pub reading: Location,
    /// Stored in the column, or compared with it.
    pub is_stored: bool,
    /// A statement that uses the database's clock on the same column.
    pub beside: Option<&'a SqlSite>,
    /// All workers share the clock: a file on one host.
    pub one_host: bool,
}

/// One for each place where a clock is read and table that it decides on.
pub fn client_clocks(inventory: &Inventory) -> Vec<ClientClock<'_>> {
    let rows: Vec<RowWrite<'_>> = row_writes(inventory).into_iter().filter(RowWrite::is_leased).collect();
    let uses: Vec<ClockUse<'_>> = rows.iter().flat_map(uses).collect();
    let mut found: Vec<ClientClock<'_>> = Vec::new();
    for seen in &uses {
        let Clock::Client(reading) = seen.clock else { continue };
        let table = seen.table();
        if found.iter().any(|f| f.reading == reading && f.table.eq_ignore_ascii_case(table)) {
            continue;
        }
        let of_column = |other: &&ClockUse<'_>| {
            other.row.site.dialect == seen.row.site.dialect
                && other.table().eq_ignore_ascii_case(table)
                && other.column.eq_ignore_ascii_case(seen.column)
        };
        // The time of a claim matters when somebody is judged by it; alone it is a record.
        if !seen.is_deadline && !uses.iter().filter(of_column).any(|other| !other.is_stored) {
            continue;
        }
        let beside = uses.iter().filter(of_column).find(|other| matches!(other.clock, Clock::Database));
        found.push(ClientClock {
            site: seen.row.site,
            table,
            column: seen.column.to_owned(),
            reading,
            is_stored: seen.is_stored,
            beside: beside.map(|other| other.row.site),
            one_host: seen.row.site.dialect == Dialect::Sqlite,
        });
    }
    found
}

struct ClockUse<'a> {
    row: RowWrite<'a>,
    column: &'a str,
    is_deadline: bool,
    is_stored: bool,
    clock: Clock,
}

impl<'a> ClockUse<'a> {
    fn table(&self) -> &'a str {
        &self.row.write.table.name
    }
}

#[derive(Debug, Clone, Copy)]
enum Clock {
    Client(Location),
    Database,
}

fn uses<'a>(row: &RowWrite<'a>) -> Vec<ClockUse<'a>> {
    let stored = row.filled().map(|(column, value)| (column, value, true));
    let own = row.compares();
    let inner = inner_selects(row.write);
    let inner = inner.into_iter().flat_map(|select| own_compares(select.predicate.as_ref()));
    let ordered = |operator: Comparison| !matches!(operator, Comparison::Equal | Comparison::EqualOrBothNull);
    let compared = own.into_iter().chain(inner).filter(|(_, operator, _)| ordered(*operator));
    let all = stored.chain(compared.map(|(column, _, value)| (column, value, false)));
    all.filter_map(|(column, value, is_stored)| {
        let is_deadline = row.profile.is_deadline(column);
        let named = is_deadline || row.profile.is_claim_time(column) || naming::is_claim_time(column);
        let clock = clock_in(row.site, value).filter(|_| named)?;
        Some(ClockUse { row: *row, column, is_deadline, is_stored, clock })
    })
    .collect()
}

/// The clock that a value is made from. What is added to the database's clock is a length of time, whoever
/// worked it out: `now() - $1 * interval '1 ms'`.
fn clock_in(site: &SqlSite, value: &Expr) -> Option<Clock> {
    if let ExprKind::Bind(bind) = &value.kind {
        return site.bound(bind)?.wall_clock.map(Clock::Client);
    }
    let inside = value.kind.parts().into_iter().filter_map(|part| clock_in(site, part));
    let own = is_database_clock(value).then_some(Clock::Database);
    inside.chain(own).reduce(|a, b| if matches!(a, Clock::Database) { a } else { b })
}

fn is_database_clock(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Call { name, .. } if naming::is_database_clock(name))
}
