//! What the binary is made of: every crate has a licence that ours can be combined with and comes from the registry, no
//! crate comes twice where that can be helped, and their number is the one that docs/dependencies.md states.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

/// Each of an expression's alternatives must be made of these.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml"));
    command.other_options(["--locked".to_owned(), "--filter-platform".to_owned(), target()]);
    command.exec().unwrap()
}

fn target() -> String {
    let version = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(version.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// The crates that a package is built from, without those of tests.
fn built_from(metadata: &Metadata, name: &str) -> BTreeSet<PackageId> {
    let nodes: BTreeMap<&PackageId, _> =
        metadata.resolve.as_ref().unwrap().nodes.iter().map(|node| (&node.id, node)).collect();
    let root = metadata.packages.iter().find(|package| package.name.as_str() == name).unwrap();
    let (mut found, mut waiting) = (BTreeSet::new(), vec![root.id.clone()]);
    while let Some(id) = waiting.pop() {
        for dependency in &nodes[&id].deps {
            let is_built = dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development);
            if is_built && found.insert(dependency.pkg.clone()) {
                waiting.push(dependency.pkg.clone());
            }
        }
    }
    found
}

/// How many crates the binary is built from. `cargo metadata` mixes the features that tests ask for into those of the
/// binary, and so counts too many; `cargo tree` does not.
fn crates_of_the_binary() -> usize {
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["tree", "--locked", "-p", "leaselint", "-e", "normal,build", "--prefix", "none"]);
    let output = command.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let named = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let crates: BTreeSet<_> = tree.lines().map(named).collect();
    crates.len() - 1 // itself
}

/// Whether one can choose licences of the list: `MIT OR GPL-2.0` is fine, `MIT AND GPL-2.0` is not.
fn is_free(expression: &str) -> bool {
    let alternatives = expression.split(" OR ").flat_map(|part| part.split('/'));
    alternatives.into_iter().any(|alternative| {
        let all = alternative.split(" AND ").flat_map(|part| part.split(" WITH ").take(1));
        all.into_iter().all(|name| LICENCES.contains(&name.trim_matches(['(', ')', ' '])))
    })
}

#[test]
fn every_licence_can_be_combined_with_ours() {
    let metadata = metadata();
    for name in ["leaselint", "leasehold"] {
        let built = built_from(&metadata, name);
        let licence = |package: &&cargo_metadata::Package| built.contains(&package.id);
        for package in metadata.packages.iter().filter(licence) {
            let licence = package.license.as_deref().unwrap_or("none");
            assert!(is_free(licence), "{} {}: {licence}", package.name, package.version);
            let source = package.source.as_ref().map(|source| source.repr.as_str()).unwrap_or("a folder");
            assert!(source.starts_with("registry+"), "{} comes from {source}", package.name);
        }
    }
}

#[test]
fn licences_are_read_as_their_expressions_say() {
    for fine in ["MIT", "MIT OR GPL-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "Unlicense/MIT"] {
        assert!(is_free(fine), "{fine}");
    }
    for other in ["GPL-3.0", "none", "MIT AND GPL-2.0"] {
        assert!(!is_free(other), "{other}");
    }
}

#[test]
fn the_number_of_crates_is_the_one_that_is_stated() {
    let count = crates_of_the_binary();
    let page = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let stated = page.lines().find_map(|line| line.strip_prefix("The binary is built from at most "));
    let stated: usize = stated.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap();
    assert!(count <= stated, "{count} crates, and {stated} are stated");
    assert!(count + 15 >= stated, "{count} crates only, and {stated} are stated");
}

#[test]
fn no_unsafe_code_is_ours() {
    for manifest in ["Cargo.toml", "runtime/Cargo.toml"] {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        assert!(text.contains("unsafe_code = \"forbid\""), "{manifest}");
    }
}
