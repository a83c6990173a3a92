//! From the files of a run to what the resolver reads.

use crate::facts::FileId;
use crate::facts::file::FileFacts;
use crate::facts::lua::LuaFile;
use crate::facts::sql::Dialect;
use crate::locks::Inventory;
use crate::resolve::{
    IncludedTexts, Package, PackageDependency, SourceUnit, SqlUnit, crates, doubled_versions, resolve,
};
use crate::sources::{Manifest, Packages};
use crate::sql::migration;

use super::Workspace;

/// Puts the facts of all files together.
pub(super) fn inventory(workspace: &Workspace<'_>) -> Inventory {
    let Workspace { sources, packages, parsed, models, configuration, .. } = *workspace;
    let listed = listed(workspace);
    let texts: Vec<(FileId, std::sync::Arc<str>)> = parsed
        .iter()
        .filter(|file| !matches!(*file.facts, FileFacts::Rust(_)))
        .filter_map(|file| Some((file.file, sources.text(file.file)?)))
        .collect();
    let included =
        IncludedTexts::new(texts.iter().map(|(file, text)| (sources.path(*file), *file, text.as_ref())));
    let rust: Vec<SourceUnit<'_>> = parsed
        .iter()
        .filter_map(|file| match &*file.facts {
            FileFacts::Rust(facts) => Some(SourceUnit {
                file: file.file,
                path: sources.path(file.file),
                package: packages.of(file.file),
                facts,
                is_test: sources.file(file.file).is_test,
            }),
            _ => None,
        })
        .collect();
    let sql = sql_units(workspace, &listed);
    let libraries: Vec<(FileId, &LuaFile)> = parsed
        .iter()
        .filter_map(|file| match &*file.facts {
            FileFacts::Lua(library) => Some((file.file, library)),
            _ => None,
        })
        .collect();
    resolve(&rust, &sql, &libraries, &included, &listed, models, &configuration.conventions)
}

/// What a person should hear of the histories beside the findings.
pub(super) fn notes(workspace: &Workspace<'_>) -> Vec<(FileId, String)> {
    let listed = listed(workspace);
    let path = |file| workspace.sources.path(file);
    doubled_versions(&sql_units(workspace, &listed), &listed)
        .into_iter()
        .map(|(file, other)| {
            let (shown, other) = (path(file), path(other));
            let note = "the migration tool refuses it, or leaves it out without a word";
            (file, format!("{shown} has the version of {other}: {note}"))
        })
        .collect()
}

fn listed(workspace: &Workspace<'_>) -> Vec<Package> {
    let Workspace { sources, packages, configuration, .. } = *workspace;
    let told = |manifest: &Manifest| configuration.dialect(sources.absolute(manifest.file));
    packages
        .manifests
        .iter()
        .map(|manifest| {
            let package = package(manifest);
            Package { dialect: told(manifest).or(package.dialect), ..package }
        })
        .collect()
}

/// The `.sql` files, with what each of them is for.
fn sql_units<'a>(workspace: &Workspace<'a>, listed: &[Package]) -> Vec<SqlUnit<'a>> {
    let Workspace { sources, packages, parsed, asked, configuration, .. } = *workspace;
    parsed
        .iter()
        .filter_map(|file| match &*file.facts {
            FileFacts::Sql(facts, dialect) => {
                let package = packages.of(file.file);
                let absolute = sources.absolute(file.file);
                let dialect = configuration
                    .dialect(absolute)
                    .or_else(|| migration::dialect_of_path(sources.path(file.file)))
                    .or_else(|| dialect_of(package, listed))
                    .unwrap_or(*dialect);
                let named = asked.iter().any(|path| path == absolute);
                let text = sources.text(file.file);
                let (path, text) = (sources.path(file.file), text.as_deref().unwrap_or(""));
                let role = match configuration.history(absolute) {
                    Some(root) => migration::classify_in_history(path, text, &root.to_string_lossy()),
                    None => migration::classify(path, text),
                };
                let is_test = sources.file(file.file).is_test;
                let preferred = configuration.dialect(absolute).or_else(|| dialect_of(package, listed));
                Some(SqlUnit { file: file.file, facts, dialect, preferred, role, package, is_test, named })
            }
            _ => None,
        })
        .collect()
}

/// Pairs of packages of the run, the dependent first.
pub(super) fn dependencies(packages: &Packages) -> Vec<(usize, usize)> {
    let listed: Vec<Package> = packages.manifests.iter().map(package).collect();
    let crates = crates(&listed).into_iter().enumerate();
    crates
        .flat_map(|(from, names)| names.into_iter().map(move |(_, to)| (from, to)))
        .filter(|(from, to)| from != to)
        .collect()
}

/// The one database of each package, where its manifest shows it.
pub(super) fn dialects(packages: &Packages) -> Vec<Option<Dialect>> {
    packages.manifests.iter().map(|manifest| package(manifest).dialect).collect()
}

fn package(manifest: &Manifest) -> Package {
    let dependencies: Vec<PackageDependency> = manifest
        .dependencies
        .iter()
        .map(|(name, dependency)| PackageDependency {
            name: name.clone(),
            path: dependency.path.clone(),
            package: dependency.package.clone(),
            features: dependency.features.clone(),
        })
        .collect();
    let dialect = dialect(&dependencies);
    let name = manifest.package.clone().unwrap_or_default();
    Package {
        crate_name: manifest.lib_name.clone().unwrap_or_else(|| name.replace('-', "_")),
        library: manifest.lib_path.clone(),
        binaries: manifest.bins.iter().map(|bin| bin.path.clone()).collect(),
        name,
        root: manifest.dir.clone(),
        dependencies,
        dialect,
    }
}

/// The dialect that the features of SQL clients name, when they name one alone.
fn dialect(dependencies: &[PackageDependency]) -> Option<Dialect> {
    let mut found: Vec<Dialect> = Vec::new();
    for dependency in dependencies {
        let names = std::iter::once(&dependency.package).chain(&dependency.features);
        for name in names {
            let dialect = match name.as_str() {
                "postgres" | "sqlx-postgres" | "tokio-postgres" | "deadpool-postgres" => Dialect::Postgres,
                "mysql" | "sqlx-mysql" | "mysql_async" => Dialect::MySql,
                "sqlite" | "sqlx-sqlite" | "rusqlite" => Dialect::Sqlite,
                _ => continue,
            };
            if !found.contains(&dialect) {
                found.push(dialect);
            }
        }
    }
    if found.len() == 1 { found.pop() } else { None }
}

fn dialect_of(package: Option<usize>, packages: &[Package]) -> Option<Dialect> {
    package.and_then(|package| packages.get(package)).and_then(|package| package.dialect)
}
