//! Programs: from each `fn main`, which lock operations the call graph reaches, and what the crate does
//! about SIGTERM.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::Location;
use crate::facts::rust::{Expr, ExprKind};
use crate::facts::walk::each_expr;
use crate::locks::{Action, Binary, Inventory, LeaseUse, SigtermHandling, row_acquires};

use super::super::Package;
use super::super::evaluate::Evaluator;
use super::super::models::{Signals, ends_with};
use super::super::program::SourceUnit;
use super::statements::StatementRuns;

pub fn binaries(
    evaluator: &Evaluator<'_>,
    packages: &[Package],
    inventory: &Inventory,
    runs: &StatementRuns,
) -> Vec<Binary> {
    let row_acquires = row_acquires(inventory);
    let program = evaluator.program;
    let mut all = Vec::new();
    for function in program.named_anywhere("main") {
        let entry = program.functions[function];
        if entry.function.owner.is_some() || !entry.function.module.is_empty() {
            continue;
        }
        let unit = program.unit_of(function);
        let package = unit.package.and_then(|package| packages.get(package));
        let reached = reached(evaluator, function);
        let takes_lease = key_lease(evaluator, &reached, inventory)
            .or_else(|| row_lease(evaluator, &reached, runs, &row_acquires));
        // The whole package is looked through for handlers only where a lease is at stake.
        let sigterm = match takes_lease {
            Some(_) => sigterm(evaluator, unit.package, packages),
            None => SigtermHandling::Missing,
        };
        all.push(Binary {
            name: package.map_or_else(|| unit.path.to_owned(), |package| package.name.clone()),
            main: Location { file: unit.file, span: entry.function.name_span },
            takes_lease,
            sigterm,
            may_hear: package.and_then(|package| may_hear(package, &evaluator.models.signals)),
            is_test: program.is_test(function),
        });
    }
    all.sort_by_key(|binary| binary.main);
    all
}

/// A dependency whose name says that it has to do with the end of a process.
fn may_hear(package: &Package, known: &Signals) -> Option<String> {
    const WORDS: &[&str] = &[
        "shutdown",
        "graceful",
        "signal",
        "signals",
        "sigterm",
        "termination",
        "lifecycle",
        "supervisor",
        "daemon",
    ];
    let names = package.dependencies.iter().map(|dependency| &dependency.package);
    // Of a crate that the models know, the code says whether it hears SIGTERM.
    let names = names.filter(|name| !known.registers_of(name));
    let mut telling = names.filter(|name| name.split(['-', '_']).any(|word| WORDS.contains(&word)));
    telling.next().cloned()
}

/// Every function that calls from `start` lead to.
fn reached(evaluator: &Evaluator<'_>, start: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([start]);
    let mut stack = vec![start];
    while let Some(function) = stack.pop() {
        for &callee in evaluator.calls.get(&function).into_iter().flatten() {
            if seen.insert(callee) {
                stack.push(callee);
            }
        }
    }
    seen
}

/// An operation on a key that takes or extends a lock.
fn key_lease(
    evaluator: &Evaluator<'_>,
    reached: &BTreeSet<usize>,
    inventory: &Inventory,
) -> Option<LeaseUse> {
    let program = evaluator.program;
    let places: BTreeSet<Location> = reached
        .iter()
        .map(|&function| {
            let entry = program.functions[function];
            Location { file: program.units[entry.unit].file, span: entry.function.name_span }
        })
        .collect();
    let sequences = inventory.sequences.iter().filter(|sequence| places.contains(&sequence.location));
    sequences.flat_map(|sequence| &sequence.operations).find_map(|operation| {
        let key = &inventory.keys[operation.key];
        let takes = operation.action.is_acquire() || matches!(operation.action, Action::Expire { .. });
        let is_lease = takes && key.is_lock() && !operation.is_test;
        is_lease.then(|| LeaseUse { location: operation.location, lock: key.name.clone() })
    })
}

/// A statement that takes the lease of a row.
fn row_lease(
    evaluator: &Evaluator<'_>,
    reached: &BTreeSet<usize>,
    runs: &StatementRuns,
    row_acquires: &BTreeMap<usize, &str>,
) -> Option<LeaseUse> {
    if row_acquires.is_empty() {
        return None;
    }
    reached.iter().filter(|&&function| !evaluator.program.is_test(function)).find_map(|&function| {
        let trace = evaluator.trace(function)?;
        trace.operations.iter().enumerate().find_map(|(index, operation)| {
            let mut sites = runs.get(&(function, index)).into_iter().flatten();
            let table = sites.find_map(|site| row_acquires.get(site))?;
            Some(LeaseUse { location: operation.location, lock: (*table).to_owned() })
        })
    })
}

/// What the package, and the packages of the workspace that it depends on, do about SIGTERM.
fn sigterm(evaluator: &Evaluator<'_>, package: Option<usize>, packages: &[Package]) -> SigtermHandling {
    let related = related_packages(package, packages);
    let signals = &evaluator.models.signals;
    let mut interrupt = None;
    let mut feature_missing = None;
    let mut registers = false;
    for (index, unit) in evaluator.program.units.iter().enumerate() {
        if unit.package.is_some_and(|package| !related.contains(&package)) {
            continue;
        }
        let mut heard = Heard { evaluator, signals, packages, package, place: None, found: Found::default() };
        heard.look_at(index, unit);
        if heard.found.handled {
            return SigtermHandling::Handled;
        }
        registers |= heard.found.registers;
        interrupt = interrupt.or(heard.found.interrupt);
        feature_missing = feature_missing.or(heard.found.feature_missing);
    }
    if let Some((place, name, feature)) = feature_missing {
        return SigtermHandling::FeatureMissing { place, name, feature };
    }
    match interrupt {
        Some(place) => SigtermHandling::OnlyInterrupt(place),
        // Which signals these are is not written here.
        None if registers => SigtermHandling::Handled,
        None => SigtermHandling::Missing,
    }
}

fn related_packages(package: Option<usize>, packages: &[Package]) -> BTreeSet<usize> {
    let mut related: BTreeSet<usize> = package.into_iter().collect();
    let mut stack: Vec<usize> = package.into_iter().collect();
    while let Some(current) = stack.pop() {
        let Some(dependencies) = packages.get(current).map(|package| &package.dependencies) else { continue };
        for (at, other) in packages.iter().enumerate() {
            if dependencies.iter().any(|dependency| dependency.package == other.name) && related.insert(at) {
                stack.push(at);
            }
        }
    }
    related
}

#[derive(Default)]
struct Found {
    handled: bool,
    /// Something that hears the signals which it is given.
    registers: bool,
    interrupt: Option<Location>,
    feature_missing: Option<(Location, String, String)>,
}

struct Heard<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    signals: &'s Signals,
    packages: &'s [Package],
    package: Option<usize>,
    place: Option<Location>,
    found: Found,
}

impl Heard<'_, '_> {
    fn look_at(&mut self, index: usize, unit: &SourceUnit<'_>) {
        let file = unit.file;
        for import in &unit.facts.uses {
            self.path(&import.path);
        }
        for function in &unit.facts.functions {
            let at = Location { file, span: function.name_span };
            self.place = Some(at);
            for attribute in &function.attributes {
                self.path(&attribute.split("::").map(str::to_owned).collect::<Vec<_>>());
            }
            if let Some(body) = &function.body {
                let mut each = |expr: &Expr| {
                    self.place = Some(Location { file, span: expr.span });
                    match &expr.kind {
                        ExprKind::Path(path) => {
                            let full = self
                                .evaluator
                                .program
                                .full_path(self.evaluator.program.scope_of_unit(index).module, path);
                            self.path(&full);
                        }
                        ExprKind::MethodCall { method, .. } => {
                            self.found.handled |= self.signals.methods.iter().any(|known| known == method);
                        }
                        ExprKind::Macro(call) => self.path(&call.path),
                        _ => {}
                    }
                };
                each_expr(body, &mut each);
            }
        }
    }

    fn path(&mut self, path: &[String]) {
        let is_of = |name: &String| path.first().is_some_and(|first| *first == name.replace('-', "_"));
        if self.signals.crates.iter().any(is_of) {
            self.found.handled = true;
        }
        if self.signals.paths.iter().any(|known| ends_with(path, known)) {
            self.found.handled = true;
        }
        self.found.registers |= self.signals.registers.iter().any(|known| ends_with(path, known));
        for signal in &self.signals.with_feature {
            if !ends_with(path, &signal.path) {
                continue;
            }
            if self.has_feature(&signal.name, &signal.feature) {
                self.found.handled = true;
            } else if let Some(place) = self.place {
                self.found.feature_missing.get_or_insert((
                    place,
                    signal.name.clone(),
                    signal.feature.clone(),
                ));
            }
        }
        if self.signals.interrupts.iter().any(|known| ends_with(path, known)) {
            self.found.interrupt = self.found.interrupt.or(self.place);
        }
    }

    fn has_feature(&self, name: &str, feature: &str) -> bool {
        let package = self.package.and_then(|package| self.packages.get(package));
        // Without a manifest nothing is known of features: assume the best.
        package.is_none_or(|package| {
            package.dependencies.iter().any(|dependency| {
                dependency.package == name && dependency.features.iter().any(|given| given == feature)
            })
        })
    }
}
