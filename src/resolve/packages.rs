//! The packages of a run as code sees them: which libraries it can name, and by which names. Two packages
//! of one name are told apart by the folder of the dependency, or not at all.

use std::collections::VecDeque;

use crate::facts::sql::Dialect;

use super::evaluate::normal_path;

/// A package of the run, as its manifest tells.
#[derive(Debug, Clone, Default)]
pub struct Package {
    pub name: String,
    /// The folder; empty for the folder that the tool runs in.
    pub root: String,
    /// The name of its library in code.
    pub crate_name: String,
    /// The root file of its library, when the manifest names it.
    pub library: Option<String>,
    /// The root files of its binaries.
    pub binaries: Vec<String>,
    pub dependencies: Vec<PackageDependency>,
    /// The dialect that the manifest shows, such as by the features of `sqlx`.
    pub dialect: Option<Dialect>,
}

#[derive(Debug, Clone, Default)]
pub struct PackageDependency {
    /// The name in code.
    pub name: String,
    pub package: String,
    /// Its folder, as written.
    pub path: Option<String>,
    pub features: Vec<String>,
}

/// For each package, the libraries of the run that its code can name: its own, and its dependencies.
pub fn crates(packages: &[Package]) -> Vec<Vec<(String, usize)>> {
    packages
        .iter()
        .enumerate()
        .map(|(at, package)| {
            let others = package.dependencies.iter().filter_map(|dependency| {
                let target = target(packages, package, dependency).filter(|&target| target != at)?;
                // Renamed in the manifest, or by the library itself.
                let is_renamed = dependency.name != dependency.package.replace('-', "_");
                let name = if is_renamed { &dependency.name } else { &packages[target].crate_name };
                Some((name.clone(), target))
            });
            std::iter::once((package.crate_name.clone(), at)).chain(others).collect()
        })
        .collect()
}

/// The package of the run that a dependency is: one without a folder comes from a registry, whatever it is
/// called.
fn target(packages: &[Package], from: &Package, dependency: &PackageDependency) -> Option<usize> {
    let folder = normal_path(from.root.trim_end_matches('/'), dependency.path.as_deref()?);
    let mut namesakes = (0..packages.len()).filter(|&at| packages[at].name == dependency.package);
    let by_folder = namesakes.clone().find(|&at| packages[at].root.trim_end_matches('/') == folder);
    by_folder.or_else(|| {
        let first = namesakes.next()?;
        namesakes.next().is_none().then_some(first)
    })
}

/// For each package, itself and the packages that it depends on, directly or not.
pub fn reachable(crates: &[Vec<(String, usize)>]) -> Vec<Vec<Option<usize>>> {
    (0..crates.len())
        .map(|start| {
            let mut found = vec![start];
            let mut waiting = VecDeque::from([start]);
            while let Some(at) = waiting.pop_front() {
                for &(_, other) in &crates[at] {
                    if !found.contains(&other) {
                        found.push(other);
                        waiting.push_back(other);
                    }
                }
            }
            found.into_iter().map(Some).collect()
        })
        .collect()
}
