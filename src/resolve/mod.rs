//! Resolution without a compiler: from the facts of all files to operations on stores, and from these to
//! the inventory that rules read.

mod address;
mod alternatives;
mod assemble;
mod bindings;
mod builders;
mod chain;
mod condition;
mod evaluate;
mod flows;
mod models;
mod order;
mod packages;
mod program;
mod quantity;
mod requests;
mod row_locks;
mod trace;
mod value;

use crate::facts::FileId;
use crate::facts::lua::LuaFile;
use crate::locks::{Conventions, Inventory};

use assemble::KeyTable;
pub use assemble::{SqlUnit, doubled_versions};
use evaluate::Evaluator;
use program::Program;

pub use evaluate::Texts;
pub use models::{ClientModel, Models};
pub use order::{acts_on_store, runs_sql, takes_session};
pub use packages::{Package, PackageDependency, crates};
pub use program::SourceUnit;
pub use row_locks::{is_row_lease, takes_row_lease};

/// Texts of included files, by path.
pub struct IncludedTexts {
    by_path: std::collections::BTreeMap<String, (FileId, std::rc::Rc<str>)>,
}

impl IncludedTexts {
    pub fn new<'t>(files: impl Iterator<Item = (&'t str, FileId, &'t str)>) -> Self {
        Self { by_path: files.map(|(path, file, text)| (path.to_owned(), (file, text.into()))).collect() }
    }
}

impl Texts for IncludedTexts {
    fn text(&self, path: &str) -> Option<(FileId, std::rc::Rc<str>)> {
        self.by_path.get(path).cloned()
    }
}

/// Resolves the files of a run, and puts together what they say about locks.
pub fn resolve(
    units: &[SourceUnit<'_>],
    sql: &[SqlUnit<'_>],
    libraries: &[(FileId, &LuaFile)],
    texts: &dyn Texts,
    packages: &[Package],
    models: &Models,
    conventions: &Conventions,
) -> Inventory {
    let program = Program::new(units, packages);
    let order = order::callees_first(&program, models);
    let roots: Vec<String> = packages.iter().map(|package| package.root.clone()).collect();
    let mut evaluator = Evaluator::new(&program, models, texts, &roots);
    for &function in &order {
        evaluator.run(function);
    }
    let mut table = KeyTable::default();
    let sequences = assemble::sequences(&evaluator, &order, &mut table, libraries);
    let keys = assemble::weigh(table.names(), &sequences, conventions);
    let quorums = assemble::quorums(&evaluator, &keys, &sequences);
    let (mut statements, runs) = assemble::statements(&evaluator, &order, packages);
    assemble::mark_best_effort(&program, &mut statements);
    let timelines = assemble::timelines(&evaluator, &order, &keys, &sequences, &runs);
    let in_routines = assemble::routine_statements(&statements);
    let built = assemble::rust_migrations(&program);
    let schema = assemble::schema(sql, &statements, &built);
    statements.extend(in_routines);
    statements.extend(assemble::file_statements(sql));
    let mut inventory = Inventory::new(statements, schema);
    inventory.conventions = conventions.clone();
    inventory.keys = keys;
    inventory.sequences = sequences;
    inventory.timelines = timelines;
    inventory.quorums = quorums;
    inventory.renewal_defaults = assemble::renewal_defaults(&evaluator);
    inventory.binaries = assemble::binaries(&evaluator, packages, &inventory, &runs);
    inventory.left_sessions = assemble::left_sessions(&evaluator, &order);
    inventory.late_deadlines = assemble::late_deadlines(&evaluator, &order, &inventory, &runs);
    inventory.clock_flows = assemble::clock_flows(&evaluator, &order, &mut table, &inventory, &runs);
    inventory
}
