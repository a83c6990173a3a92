//! Gets the pinned crates' sources through cargo and links them under `target/corpus/`. Only cargo talks to
//! a registry; a crate that is already unpacked costs one look at the disk. What is done with the sources
//! is not its business.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(rename = "crate")]
    crates: Vec<Pinned>,
}

/// One line of `crates.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pinned {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) kind: Kind,
    pub(crate) what: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Lock,
    LookAlike,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("cargo could not get {package}: {stderr}")]
    Cargo { package: String, stderr: String },
    #[error("cargo says that it has {0}, but it is not unpacked under {1}")]
    NotUnpacked(String, PathBuf),
    #[error("neither CARGO_HOME nor HOME is set")]
    NoCargoHome,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The pinned list, in the order of the file.
pub(crate) fn pinned() -> Vec<Pinned> {
    let list: List = toml::from_str(include_str!("crates.toml")).expect("crates.toml is well-formed");
    list.crates
}

/// The folder that holds the sources of `package`, fetched if need be.
pub(crate) fn sources(package: &Pinned) -> Result<PathBuf, FetchError> {
    let folder = format!("{}-{}", package.name, package.version);
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus");
    let link = cache.join(&folder);
    if link.join("Cargo.toml").is_file() {
        return Ok(link);
    }
    fs::create_dir_all(&cache)?;
    // A link whose target cargo has cleaned up meanwhile is in the way.
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    let store = registry_sources()?;
    let unpacked = match find(&store, &folder)? {
        Some(there) => there,
        None => {
            ask_cargo(package)?;
            find(&store, &folder)?.ok_or(FetchError::NotUnpacked(folder, store))?
        }
    };
    link_folder(&unpacked, &link)?;
    Ok(link)
}

/// Where cargo unpacks what it downloads: one folder for each registry.
fn registry_sources() -> Result<PathBuf, FetchError> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(std::env::var_os("HOME").ok_or(FetchError::NoCargoHome)?).join(".cargo"),
    };
    Ok(home.join("registry/src"))
}

fn find(store: &Path, folder: &str) -> Result<Option<PathBuf>, FetchError> {
    if !store.is_dir() {
        return Ok(None);
    }
    let mut registries =
        fs::read_dir(store)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, FetchError>>()?;
    registries.sort();
    Ok(registries
        .into_iter()
        .map(|registry| registry.join(folder))
        .find(|path| path.join("Cargo.toml").is_file()))
}

/// `cargo info` downloads and unpacks one crate at an exact version and nothing of what it depends on, so
/// that crates which could never be resolved together can be had, and old ones too.
fn ask_cargo(package: &Pinned) -> Result<(), FetchError> {
    let spec = format!("{}@{}", package.name, package.version);
    let elsewhere = tempfile::tempdir()?; // inside a workspace cargo would resolve that first
    let mut stderr = String::new();
    for attempt in 0..3u64 {
        std::thread::sleep(Duration::from_secs(attempt * 5));
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let done = Command::new(cargo)
            .args(["info", "--color", "never", &spec])
            .current_dir(elsewhere.path())
            .output()?;
        if done.status.success() {
            return Ok(());
        }
        stderr = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    }
    Err(FetchError::Cargo { package: spec, stderr })
}

#[cfg(unix)]
fn link_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(from, to)
}
