//! Statements that stand in `.sql` files: the schema's history, and the bodies of routines, which are
//! runtime code although a migration brings them.

use super::applied::applied;
use super::routines::routine_sites;
use super::sea_migrations::RustMigration;
use crate::facts::migration::SqlFileRole;
use crate::facts::sql::{Dialect, SqlText, Statement, StatementKind};
use crate::facts::{FileId, TextMap};
use crate::locks::schema::{Schema, SchemaStep, replay};
use crate::locks::statement::StatementText;
use crate::locks::{CountUse, Executor, SqlSite, StatementOrigin, TransactionScope};

/// One `.sql` file of the run.
pub struct SqlUnit<'a> {
    pub file: FileId,
    pub facts: &'a SqlText,
    pub dialect: Dialect,
    /// The one database of the package, when its manifest shows it.
    pub preferred: Option<Dialect>,
    pub role: SqlFileRole,
    pub package: Option<usize>,
    pub is_test: bool,
    /// Somebody asked for this very file, so that it is judged whatever it is for.
    pub named: bool,
}

/// The tables that the migrations, and DDL in Rust text, lead to.
pub fn schema(units: &[SqlUnit<'_>], embedded: &[SqlSite], built: &[RustMigration]) -> Schema {
    let texts: Vec<StatementText> = units.iter().map(text).collect();
    let applied = applied(units);
    let files = units.iter().zip(&texts).zip(&applied).filter(|(_, applied)| **applied);
    let from_files = files.flat_map(|((unit, at), _)| {
        let (root, order, snapshot) = match &unit.role {
            SqlFileRole::Migration { root, order, .. } => (root.as_str(), Some(order), false),
            SqlFileRole::Snapshot => ("", None, true),
            SqlFileRole::Query | SqlFileRole::Unknown if unit.named => ("(named)", None, false),
            SqlFileRole::Query | SqlFileRole::Unknown => ("(other)", None, false),
        };
        unit.facts.statements.iter().map(move |statement| SchemaStep {
            statement,
            at,
            dialect: unit.dialect,
            package: unit.package,
            root,
            order,
            snapshot,
            is_context: root == "(other)",
        })
    });
    let from_rust = embedded.iter().filter(|site| !site.is_test && !is_undo(site)).map(|site| SchemaStep {
        statement: &site.statement,
        at: &site.source,
        dialect: site.dialect,
        package: site.package,
        root: "(Rust)",
        order: None,
        snapshot: false,
        is_context: false,
    });
    let from_builders = built.iter().map(|migration| SchemaStep {
        statement: &migration.statement,
        at: &migration.at,
        dialect: migration.dialect,
        package: migration.package,
        root: "(Rust)",
        order: None,
        snapshot: false,
        is_context: false,
    });
    replay(from_files.chain(from_rust).chain(from_builders).collect())
}

/// `fn down` of a migration that is written in Rust.
fn is_undo(site: &SqlSite) -> bool {
    site.function.as_deref().is_some_and(|name| name == "down" || name.ends_with("::down"))
}

/// The statements of files that rules look at.
pub fn file_statements(units: &[SqlUnit<'_>]) -> Vec<SqlSite> {
    units.iter().flat_map(unit_statements).collect()
}

fn unit_statements(unit: &SqlUnit<'_>) -> Vec<SqlSite> {
    let mut sites = Vec::new();
    for statement in &unit.facts.statements {
        let origin = match unit.role {
            SqlFileRole::Migration { .. } => Some(StatementOrigin::Migration),
            SqlFileRole::Snapshot => Some(StatementOrigin::Snapshot),
            SqlFileRole::Query | SqlFileRole::Unknown => unit.named.then_some(StatementOrigin::QueryFile),
        };
        sites.extend(origin.map(|origin| site(unit, statement.clone(), origin)));
        if matches!(statement.kind, StatementKind::CreateFunction(_) | StatementKind::CreateTrigger(_)) {
            let creator = site(unit, statement.clone(), StatementOrigin::Routine);
            sites.extend(routine_sites(&creator));
        }
    }
    sites
}

fn text(unit: &SqlUnit<'_>) -> StatementText {
    StatementText { file: unit.file, map: TextMap::verbatim(0) }
}

fn site(unit: &SqlUnit<'_>, statement: Statement, origin: StatementOrigin) -> SqlSite {
    SqlSite {
        statement,
        dialect: unit.dialect,
        source: text(unit),
        origin,
        call: None,
        complete: true,
        count: CountUse::Unknown,
        count_dropped_by: None,
        reply_dropped: false,
        is_best_effort: false,
        session_lock: None,
        executor: Executor::Unknown,
        transaction: TransactionScope::default(),
        is_test: unit.is_test,
        function: None,
        package: unit.package,
        compared_reads: Vec::new(),
        is_timed: false,
        repetitions: Vec::new(),
        binds: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
