//! The workspace around a file that is named alone: what is read as its context.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Manifest, Sources};

/// How much of a root is context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Surroundings {
    /// The folder's own files only.
    Folder,
    /// Everything below.
    Tree,
}

/// The root of what surrounds `file`: the nearest workspace or repository, else the nearest package,
/// else its folder alone. (A loose file may lie in a home or a temporary folder, which nobody wants
/// walked.)
pub(super) fn around(file: &Path) -> (PathBuf, Surroundings) {
    let folder = file.parent().unwrap_or(file);
    let root = folder
        .ancestors()
        .find(|folder| folder.join(".git").exists() || is_workspace(folder))
        .or_else(|| folder.ancestors().find(|folder| folder.join("Cargo.toml").is_file()));
    match root {
        Some(root) => (root.to_owned(), Surroundings::Tree),
        None => (folder.to_owned(), Surroundings::Folder),
    }
}

/// The folder that a file or folder is checked in: its workspace or repository, else its package, else itself.
pub fn tree_of(path: &Path) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // The root of what surrounds a file in the folder is that of what surrounds the folder.
    if path.is_dir() { around(&path.join("Cargo.toml")).0 } else { around(&path).0 }
}

/// The roots of many folders, each of which is looked at once.
pub struct Roots<'s> {
    /// Folders of the run's packages, and whether they are roots of workspaces.
    packages: HashMap<&'s Path, bool>,
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl<'s> Roots<'s> {
    pub fn new(manifests: &[Manifest], sources: &'s Sources) -> Self {
        let folder = |manifest: &Manifest| sources.absolute(manifest.file).parent();
        let packages = manifests.iter().filter_map(|m| Some((folder(m)?, m.is_workspace_root))).collect();
        Self { packages, known: HashMap::new() }
    }

    /// The nearest workspace or repository, else the nearest package of the run.
    pub fn of(&mut self, folder: &Path) -> Option<PathBuf> {
        let nearest = || folder.ancestors().find(|folder| self.packages.contains_key(folder));
        let package = nearest().map(Path::to_owned);
        self.shared(folder).or(package)
    }

    fn shared(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let is_workspace = || self.packages.get(folder).copied().unwrap_or_else(|| is_workspace(folder));
        let found = if folder.join(".git").exists() || is_workspace() {
            Some(folder.to_owned())
        } else {
            folder.parent().and_then(|above| self.shared(above))
        };
        self.known.insert(folder.to_owned(), found.clone());
        found
    }
}

/// Whether the folder's manifest has a `[workspace]` table.
pub(super) fn is_workspace(folder: &Path) -> bool {
    fs::read_to_string(folder.join("Cargo.toml"))
        .ok()
        .filter(|text| text.contains("workspace"))
        .and_then(|text| toml::from_str::<toml::Table>(&text).ok())
        .is_some_and(|manifest| manifest.contains_key("workspace"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_member_s_file_is_surrounded_by_its_workspace() {
        let tree = tree(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\nversion.workspace = true\n"),
            ("a/src/lib.rs", ""),
        ]);
        assert_eq!(around(&tree.path().join("a/src/lib.rs")), (tree.path().to_owned(), Surroundings::Tree));
    }

    #[test]
    fn without_a_workspace_it_is_the_package() {
        let tree = tree(&[("a/Cargo.toml", "[package]\nname = \"a\"\n"), ("a/src/lib.rs", "")]);
        assert_eq!(around(&tree.path().join("a/src/lib.rs")), (tree.path().join("a"), Surroundings::Tree));
    }

    #[test]
    fn a_loose_file_has_its_folder_only() {
        let tree = tree(&[("a/b.sql", "")]);
        assert_eq!(around(&tree.path().join("a/b.sql")), (tree.path().join("a"), Surroundings::Folder));
    }

    #[test]
    fn a_repository_is_a_root_too() {
        let tree = tree(&[(".git/HEAD", ""), ("a/Cargo.toml", "[package]\n"), ("migrations/1.sql", "")]);
        assert_eq!(around(&tree.path().join("a/Cargo.toml")).0, tree.path());
        assert_eq!(around(&tree.path().join("migrations/1.sql")).0, tree.path());
    }
}
