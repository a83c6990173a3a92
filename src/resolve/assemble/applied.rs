//! Which `.sql` files of a history are run at all, where only their neighbours tell: undo files, files
//! that a tool passes over, and files for another database than ours.

use std::collections::{BTreeMap, BTreeSet};

use super::sql_files::SqlUnit;
use crate::facts::migration::{OrderKey, SqlFileRole};
use crate::facts::sql::{Dialect, Section};

/// For each file, whether its statements are part of what the history leads to.
pub(super) fn applied(units: &[SqlUnit<'_>]) -> Vec<bool> {
    let roots = roots(units);
    units.iter().map(|unit| !unit.is_test && is_applied(unit, &roots)).collect()
}

type Root<'a> = (Option<usize>, &'a str);

/// What the files of one folder have in common.
#[derive(Default)]
struct Neighbours<'a> {
    has_numbers: bool,
    /// Versions that a `V` file has.
    versioned: BTreeSet<&'a [u128]>,
    /// For each version, the databases that files are named for.
    dialects: BTreeMap<&'a [u128], BTreeSet<Dialect>>,
}

fn roots<'a>(units: &'a [SqlUnit<'_>]) -> BTreeMap<Root<'a>, Neighbours<'a>> {
    let mut roots: BTreeMap<Root<'a>, Neighbours<'a>> = BTreeMap::new();
    for unit in units {
        let SqlFileRole::Migration { root, order, dialect, .. } = &unit.role else { continue };
        let of_root = roots.entry((unit.package, root)).or_default();
        of_root.has_numbers |= !order.version.is_empty();
        if order.name.starts_with('V') {
            of_root.versioned.insert(&order.version);
        }
        if let Some(dialect) = dialect {
            of_root.dialects.entry(&order.version).or_default().insert(*dialect);
        }
    }
    roots
}

fn is_applied(unit: &SqlUnit<'_>, roots: &BTreeMap<Root<'_>, Neighbours<'_>>) -> bool {
    let SqlFileRole::Migration { root, order, section, dialect, marked } = &unit.role else { return true };
    let Some(of_root) = roots.get(&(unit.package, root.as_str())) else { return true };
    if *section == Section::Down || undoes(order, of_root) {
        return false;
    }
    // Where files are numbered, one without a number is a note, a seed or a draft.
    if of_root.has_numbers && order.version.is_empty() && !order.repeatable && !marked {
        return false;
    }
    match (dialect, of_root.dialects.get(order.version.as_slice())) {
        (Some(own), Some(all)) => chosen(all, unit.preferred) == Some(*own),
        _ => true,
    }
}

/// refinery's `U3__x` has a version of its own; flyway's undoes the `V3__y` beside it.
fn undoes(order: &OrderKey, of_root: &Neighbours<'_>) -> bool {
    order.name.starts_with('U') && of_root.versioned.contains(order.version.as_slice())
}

/// The package's own database, else the first.
fn chosen(all: &BTreeSet<Dialect>, preferred: Option<Dialect>) -> Option<Dialect> {
    preferred.filter(|dialect| all.contains(dialect)).or_else(|| all.first().copied())
}
