//! Where configurations stand: the nearest one at or above each checked path, never beyond its repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::reading::ConfigurationError;

/// The name that is looked for.
const FILE_NAME: &str = "leaselint.toml";

/// A file with a configuration.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// As messages name it.
    pub(super) shown: PathBuf,
    /// From where its patterns count.
    pub(super) root: PathBuf,
    /// It is a manifest, with the configuration under `[workspace.metadata.leaselint]`.
    pub(super) in_manifest: bool,
}

/// The configurations for these paths, each once, in the order of their paths.
pub(super) fn all(paths: &[PathBuf], working_directory: &Path) -> Result<Vec<Place>, ConfigurationError> {
    let mut found = BTreeMap::new();
    for path in paths {
        if let Some(place) = nearest(&working_directory.join(path), working_directory)? {
            found.insert(place.path.clone(), place);
        }
    }
    Ok(found.into_values().collect())
}

/// A file that was named on the command line.
pub(super) fn named(path: &Path, working_directory: &Path) -> Place {
    Place {
        path: working_directory.join(path),
        shown: path.to_owned(),
        root: working_directory.to_owned(),
        in_manifest: path.file_name().is_some_and(|name| name == "Cargo.toml"),
    }
}

fn nearest(path: &Path, working_directory: &Path) -> Result<Option<Place>, ConfigurationError> {
    // A path that does not exist is told by whoever opens it; an editor's new file has a folder already.
    let existing = path.canonicalize().ok().or_else(|| path.parent()?.canonicalize().ok());
    let Some(path) = existing else { return Ok(None) };
    for folder in path.ancestors() {
        let place = |name: &str| {
            let path = folder.join(name);
            let shown = path.strip_prefix(working_directory).unwrap_or(&path).to_owned();
            Place { path, shown, root: folder.to_owned(), in_manifest: name != FILE_NAME }
        };
        let (own, manifest) = (place(FILE_NAME), place("Cargo.toml"));
        let in_manifest = is_in_manifest(&manifest.path);
        match (own.path.exists(), in_manifest) {
            (true, true) => {
                return Err(ConfigurationError::Twice { path: own.shown, manifest: manifest.shown });
            }
            (true, false) => return Ok(Some(own)),
            (false, true) => return Ok(Some(manifest)),
            (false, false) if folder.join(".git").exists() => return Ok(None),
            (false, false) => {}
        }
    }
    Ok(None)
}

/// Whether a manifest has our table. One that cannot be read is told as a finding, not here.
fn is_in_manifest(manifest: &Path) -> bool {
    let text = fs::read_to_string(manifest).ok().filter(|text| text.contains("leaselint"));
    let table = text.and_then(|text| toml::from_str::<toml::Table>(&text).ok());
    let get = |table: &toml::Table, name: &str| table.get(name).and_then(toml::Value::as_table).cloned();
    table
        .and_then(|manifest| get(&manifest, "workspace"))
        .and_then(|workspace| get(&workspace, "metadata"))
        .is_some_and(|metadata| metadata.contains_key("leaselint"))
}
