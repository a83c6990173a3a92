//! Columns that name a row's holder by how they are used, whatever they are called: the statement that takes
//! an expired row stores a value of the caller's there, and another statement changes the row only while the
//! value is still there; or one stores it beside a time, and another empties it only for who has stored it. With
//! the holder it learns the time that the row is held until or since, and nothing else.

use std::collections::BTreeSet;

use super::evidence::{is_given, names_holder};
use super::walk::{NestedWrite, inner_selects, is_before, is_null, own_compares, selects, writes};
use super::{Key, TableProfile, Tables, key};
use crate::facts::sql::{Comparison, Expr, ExprKind, SourceKind, Write, WriteVerb};
use crate::locks::Inventory;
use crate::locks::naming;
use crate::locks::statement::{DrawnFrom, SqlSite};

/// A column of a table, in lower case.
type Column = (Key, String);

/// What all statements show of the columns.
#[derive(Default)]
struct Seen {
    /// Filled by a statement that takes a row whose time is over.
    stored: BTreeSet<Column>,
    /// Filled by an upsert that does so: the row is there for its holder alone.
    made: BTreeSet<Column>,
    /// Deleted by a statement that asks for the caller's value in it.
    deleted: BTreeSet<Column>,
    /// Another statement asks for the caller's value in it.
    asked: BTreeSet<Column>,
    /// Compared with a clock.
    timed: BTreeSet<Column>,
    /// Emptied by a statement that asks for the row and for the caller's value in it.
    given_up: BTreeSet<Column>,
    /// Filled beside a time that is set by a clock.
    dated: BTreeSet<(Column, Time)>,
    ends: BTreeSet<(Key, Time)>,
    /// Inserted beside a later time, with a value made for it.
    inserted: BTreeSet<(Column, Time)>,
}

/// A column that is set by a clock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Time {
    column: String,
    /// The clock's own reading rather than a later time.
    is_start: bool,
}

/// Adds what the statements show to the profiles of their tables.
pub(super) fn learn(tables: &mut Tables, inventory: &Inventory, sites: &[&SqlSite]) {
    let mut seen = Seen::default();
    for site in sites {
        seen.note_compares(site);
        for NestedWrite { write, .. } in writes(&site.statement.kind) {
            let Some(profile) = tables.profile(site, &write.table) else { continue };
            seen.note_write(profile, inventory, site, write);
        }
    }
    for (table, name) in seen.stored.intersection(&seen.asked) {
        let ends = seen.ends.iter().filter(|(of, _)| of == table).map(|(_, end)| end);
        tables.learn_holder(table, name, ends);
    }
    for (table, _) in seen.made.intersection(&seen.deleted) {
        tables.profiles.entry(table.clone()).and_modify(|profile| profile.is_lock_table = true);
    }
    let is_timed = |table: &Key, time: &Time| seen.timed.contains(&(table.clone(), time.column.clone()));
    for (column @ (table, name), time) in &seen.dated {
        if is_timed(table, time) && seen.given_up.contains(column) {
            tables.learn_holder(table, name, std::iter::once(time));
        }
    }
    // A row that is there until a time, for the one who has put it there.
    for ((table, name), time) in &seen.inserted {
        if is_timed(table, time) && !time.is_start {
            tables.learn_holder(table, name, std::iter::once(time));
            tables.profiles.entry(table.clone()).and_modify(|profile| profile.is_lock_table = true);
        }
    }
}

impl Tables {
    fn learn_holder<'t>(&mut self, table: &Key, owner: &str, times: impl Iterator<Item = &'t Time>) {
        let Some(profile) = self.profiles.get_mut(table) else { return };
        if !profile.is_owner(owner) {
            profile.owners.push(owner.to_owned());
        }
        for time in times {
            if profile.is_deadline(&time.column) || profile.is_claim_time(&time.column) {
                continue;
            }
            let list = if time.is_start { &mut profile.claim_times } else { &mut profile.deadlines };
            list.push(time.column.clone());
        }
    }
}

impl Seen {
    fn note_compares(&mut self, site: &SqlSite) {
        let of_selects = selects(&site.statement.kind).into_iter().flat_map(|select| {
            let tables = select.sources.iter().filter_map(|source| match &source.kind {
                SourceKind::Table(table) => Some(table),
                _ => None,
            });
            tables.map(|table| (table, select.predicate.as_ref()))
        });
        let of_writes = writes(&site.statement.kind).into_iter();
        let of_writes = of_writes.map(|nested| (&nested.write.table, nested.write.predicate.as_ref()));
        for (table, predicate) in of_selects.chain(of_writes) {
            let compares = own_compares(predicate).into_iter();
            let timed = compares.filter(|(.., other)| reads_clock(site, other)).map(|(name, ..)| name);
            self.timed.extend(timed.map(|name| (key(site, table), name.to_lowercase())));
        }
    }

    fn note_write(&mut self, profile: &TableProfile, inventory: &Inventory, site: &SqlSite, write: &Write) {
        let table = key(site, &write.table);
        let column = |name: &str| (table.clone(), name.to_lowercase());
        let filled: Vec<&str> =
            given_columns(write).filter(|name| is_plain(profile, inventory, site, write, name)).collect();
        if let Some(end) = expired_end(profile, site, write) {
            let time = times_set(site, write).find(|time| time.column.eq_ignore_ascii_case(end));
            let time = time.unwrap_or_else(|| Time { column: end.to_lowercase(), is_start: false });
            self.ends.insert((table.clone(), time));
            self.stored.extend(filled.iter().map(|name| column(name)));
            if write.verb == WriteVerb::Upsert {
                self.made.extend(filled.iter().map(|name| column(name)));
            }
        }
        if write.verb == WriteVerb::Insert {
            for time in inserted_times(site, write) {
                let owners = inserted_owners(site, write);
                self.inserted.extend(owners.map(|owner| (column(owner), time.clone())));
            }
        }
        self.asked.extend(asked_columns(write).map(column));
        if write.verb == WriteVerb::Delete {
            self.deleted.extend(asked_columns(write).map(column));
        }
        if write.verb == WriteVerb::Update && !naming::is_account_table(&write.table.name) {
            for time in times_set(site, write) {
                self.dated.extend(filled.iter().map(|name| (column(name), time.clone())));
            }
            let asked: Vec<&str> = asked_columns(write).collect();
            let empties = |name: &str| {
                write.assignments.iter().any(|a| a.column.eq_ignore_ascii_case(name) && is_null(&a.value))
            };
            let given_up = asked.iter().filter(|name| asked.len() > 1 && empties(name));
            self.given_up.extend(given_up.map(|name| column(name)));
        }
    }
}

fn inserted(write: &Write) -> impl Iterator<Item = (&str, &Expr)> {
    write.insert_columns.iter().map(String::as_str).zip(&write.insert_values)
}

fn inserted_times(site: &SqlSite, write: &Write) -> impl Iterator<Item = Time> {
    let set = inserted(write).filter(|(_, value)| reads_clock(site, value));
    set.map(|(column, value)| Time { column: column.to_lowercase(), is_start: is_reading(value) })
}

/// Columns that are called after a holder, and are given a value that nobody else has.
fn inserted_owners<'w>(site: &SqlSite, write: &'w Write) -> impl Iterator<Item = &'w str> {
    let by_chance = |value: &Expr| match value.kind {
        ExprKind::Bind(ref bind) => {
            let drawn = site.bound(bind).and_then(|bound| bound.drawn);
            drawn.is_some_and(|drawn| drawn.from == DrawnFrom::Chance)
        }
        _ => false,
    };
    inserted(write).filter(move |(name, value)| names_holder(name) && by_chance(value)).map(|(name, _)| name)
}

/// A reading of a clock as it is.
fn is_reading(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Call { .. } | ExprKind::Bind(_))
}

/// The columns that a write sets by a clock.
fn times_set<'w>(site: &'w SqlSite, write: &'w Write) -> impl Iterator<Item = Time> + 'w {
    let set = write.assignments.iter().map(|a| (&a.column, proposed(write, &a.value)));
    let set = set.filter(|(_, value)| reads_clock(site, value));
    set.map(|(column, value)| Time { column: column.to_lowercase(), is_start: is_reading(value) })
}

/// What an upsert has tried to insert, where a value stands for that.
fn proposed<'w>(write: &'w Write, value: &'w Expr) -> &'w Expr {
    let column = match &value.kind {
        ExprKind::InsertedValue { column } => column,
        ExprKind::Column { qualifier: Some(of), name } if of.eq_ignore_ascii_case("excluded") => name,
        _ => return value,
    };
    inserted(write).find(|(name, _)| name.eq_ignore_ascii_case(column)).map_or(value, |(_, value)| value)
}

/// Whether a value is made of a reading of a clock, the database's or a worker's.
fn reads_clock(site: &SqlSite, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call { name, .. } if naming::is_database_clock(name) => true,
        ExprKind::Bind(bind) => site.bound(bind).is_some_and(|bound| bound.wall_clock.is_some()),
        _ => value.kind.parts().into_iter().any(|part| reads_clock(site, part)),
    }
}

/// The time that a write sets anew, of rows for which it is over, or that have none.
pub(super) fn expired_end<'w>(profile: &TableProfile, site: &SqlSite, write: &'w Write) -> Option<&'w str> {
    let may_end = |name: &str| naming::is_weak_deadline(name) && !naming::is_account_table(&write.table.name);
    let ends = |name: &str| profile.is_deadline(name) || naming::is_deadline(name) || may_end(name);
    let moved = |name: &str| write.assignments.iter().find(|a| a.column.eq_ignore_ascii_case(name));
    let inner = inner_selects(write);
    let conditions = write.predicate.iter().chain(inner.iter().filter_map(|s| s.predicate.as_ref()));
    let over = |e: &Expr| {
        own_compares(Some(e)).into_iter().filter(|(_, operator, _)| is_before(*operator)).find_map(
            |(name, _, other)| {
                let set = moved(name)?;
                let by_clock = || reads_clock(site, other) && reads_clock(site, proposed(write, &set.value));
                (ends(name) || by_clock()).then_some(set.column.as_str())
            },
        )
    };
    conditions.into_iter().find_map(over)
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
