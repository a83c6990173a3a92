//! Two steps of one history with one version: which of them runs is up to the tool, or to chance.
//!
//! Only tools that know a step by its version are asked for it; where files merely run in the order of
//! their names, a number may come twice.

use std::collections::BTreeMap;

use super::sql_files::SqlUnit;
use crate::facts::FileId;
use crate::facts::migration::{OrderKey, SqlFileRole};
use crate::facts::sql::Section;
use crate::resolve::Package;

/// Libraries whose tables of applied steps have the version for their key.
const BY_VERSION: &[&str] = &["sqlx", "diesel", "diesel_migrations", "refinery"];

/// The files whose version an earlier one of the same history has, each with that one.
pub fn doubled_versions(units: &[SqlUnit<'_>], packages: &[Package]) -> Vec<(FileId, FileId)> {
    type Step<'a> = (Option<usize>, &'a str, &'a [u128]);
    let mut first: BTreeMap<Step<'_>, (FileId, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for unit in units.iter().filter(|unit| !unit.is_test) {
        let SqlFileRole::Migration { root, order, section: Section::Up, marked, .. } = &unit.role else {
            continue;
        };
        if order.version.is_empty() || order.repeatable || !(*marked || is_by_version(unit, order, packages))
        {
            continue;
        }
        let stem = order.name.split('.').next().unwrap_or_default();
        let step = (unit.package, root.as_str(), order.version.as_slice());
        match first.get(&step) {
            // One step for each of several databases.
            Some((_, other)) if *other == stem => {}
            Some((earlier, _)) => found.push((unit.file, *earlier)),
            None => {
                first.insert(step, (unit.file, stem));
            }
        }
    }
    found
}

fn is_by_version(unit: &SqlUnit<'_>, order: &OrderKey, packages: &[Package]) -> bool {
    // flyway and refinery; golang-migrate and sqlx with both directions.
    let by_name =
        (order.name.starts_with('V') && order.name.contains("__")) || order.name.ends_with(".up.sql");
    let package = unit.package.and_then(|package| packages.get(package));
    let uses = |name: &str| BY_VERSION.contains(&name);
    by_name || package.is_some_and(|package| package.dependencies.iter().any(|d| uses(&d.package)))
}
