//! Finds the files of a run: walks folders under the ignore rules, and reads the workspace around single
//! files as context. It reads no file's content but `.gitignore` and its like.
//!
//! Symbolic links met on the way are not followed: what they point to is found by its own path or lies
//! outside of what was asked for. (A path named on the command line may be a link.)

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::surroundings::{Surroundings, around};
use super::{FileKind, Patterns};

/// What to look for, and where.
#[derive(Debug, Clone)]
pub struct Request {
    /// Files and folders, absolute or relative to the working directory.
    pub paths: Vec<PathBuf>,
    /// Absolute, as the system resolves it.
    pub working_directory: PathBuf,
    /// Walk what `.gitignore` and its like hide.
    pub no_ignore: bool,
    /// A file whose text an editor gives, so that it need not exist.
    pub unsaved: Vec<PathBuf>,
    /// Never looked at, not even when it is named.
    pub excluded: Vec<Patterns>,
    pub threads: Option<NonZeroUsize>,
}

/// A path on the command line that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("no such file or folder: {}", .0.display())]
    Missing(PathBuf),
    #[error("cannot use {}: {source}", path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

/// A file of the run, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub kind: FileKind,
    /// Findings in it are reported; otherwise it is context.
    pub reported: bool,
    /// Stands in a `tests`, `benches` or `examples` folder.
    pub is_test: bool,
    /// Why it, a folder, could not be walked.
    pub trouble: Option<String>,
}

/// Everything found, by absolute path and in no order.
#[derive(Debug, Default)]
pub struct Discovery {
    pub files: HashMap<PathBuf, Found>,
    /// Files that were named but are of no kind that is checked.
    pub skipped: Vec<PathBuf>,
    /// Files and folders that were named and are excluded.
    pub excluded: Vec<PathBuf>,
}

impl Discovery {
    fn add(&mut self, path: PathBuf, found: Found) {
        let known = self.files.entry(path).or_insert_with(|| found.clone());
        known.reported |= found.reported;
        known.is_test &= found.is_test;
    }
}

/// Finds all files that the request asks for, and those around single files.
pub fn discover(request: &Request) -> Result<Discovery, PathError> {
    let mut discovery = Discovery::default();
    let mut contexts: BTreeMap<PathBuf, Surroundings> = BTreeMap::new();
    let mut single = Vec::new();
    for path in &request.paths {
        let is_unsaved = request.unsaved.contains(path);
        let path = if is_unsaved { path.clone() } else { resolve(path, &request.working_directory)? };
        if is_excluded(&path, path.is_dir(), &request.excluded) {
            discovery.excluded.push(path);
        } else if path.is_dir() {
            for (path, found) in walk(&path, Surroundings::Tree, request) {
                discovery.add(path, Found { reported: true, ..found });
            }
        } else if let Some(kind) = FileKind::of(&path).filter(|_| is_unsaved || path.is_file()) {
            let (root, surroundings) = around(&path);
            let is_test = is_test(&path, &root);
            contexts.insert(root, surroundings);
            single.push((path, Found { kind, reported: true, is_test, trouble: None }));
        } else {
            discovery.skipped.push(path);
        }
    }
    for (root, surroundings) in contexts {
        for (path, found) in walk(&root, surroundings, request) {
            discovery.add(path, found);
        }
    }
    // A named file is read even where the ignore rules hide it from the walk.
    for (path, found) in single {
        discovery.add(path, found);
    }
    discovery.skipped.sort();
    discovery.skipped.dedup();
    Ok(discovery)
}

/// The path that the system reaches; two ways to write one file become one.
fn resolve(path: &Path, working_directory: &Path) -> Result<PathBuf, PathError> {
    fs::canonicalize(working_directory.join(path)).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => PathError::Missing(path.to_owned()),
        _ => PathError::Unusable { path: path.to_owned(), source },
    })
}

fn walk(root: &Path, surroundings: Surroundings, request: &Request) -> Vec<(PathBuf, Found)> {
    let found = Mutex::new(Vec::new());
    let keep = |entry| found.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    walker(root, surroundings, request).build_parallel().run(|| {
        Box::new(|step| {
            match step {
                Ok(entry) => classify(&entry, root).into_iter().for_each(keep),
                Err(error) => trouble(&error, root).into_iter().for_each(keep),
            }
            WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn walker(root: &Path, surroundings: Surroundings, request: &Request) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    let base = root.to_owned();
    let excluded = request.excluded.clone();
    builder
        .standard_filters(!request.no_ignore)
        .hidden(true)
        // A person's own ignore file must not change what a project's check finds.
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .threads(request.threads.map_or(0, NonZeroUsize::get))
        .max_depth(match surroundings {
            Surroundings::Tree => None,
            Surroundings::Folder => Some(1),
        })
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !is_build_output(entry, &base) && !is_excluded(entry.path(), is_folder, &excluded)
        });
    builder
}

fn is_excluded(path: &Path, is_folder: bool, excluded: &[Patterns]) -> bool {
    excluded.iter().any(|patterns| patterns.matches(path, is_folder))
}

/// Cargo's `target`, but not a module of that name.
fn is_build_output(entry: &DirEntry, root: &Path) -> bool {
    entry.depth() > 0
        && entry.file_name() == "target"
        && entry.file_type().is_some_and(|kind| kind.is_dir())
        && !below(entry.path(), root).any(|folder| folder == "src")
}

fn classify(entry: &DirEntry, root: &Path) -> Option<(PathBuf, Found)> {
    // Pipes and devices are no sources, and reading one might never end.
    if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        return None;
    }
    let kind = FileKind::of(entry.path())?;
    let is_test = is_test(entry.path(), root);
    Some((entry.path().to_owned(), Found { kind, reported: false, is_test, trouble: None }))
}

/// A folder that could not be walked stands for all that may be in it.
fn trouble(error: &ignore::Error, root: &Path) -> Option<(PathBuf, Found)> {
    let path = path_of(error)?;
    let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
    let is_test = is_test(path, root);
    let found = Found { kind: FileKind::Folder, reported: false, is_test, trouble: Some(reason) };
    Some((path.to_owned(), found))
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}

/// Tests, benchmarks and examples as Cargo lays them out. A module of such a name below `src` is code
/// like any other.
fn is_test(path: &Path, root: &Path) -> bool {
    below(path.parent().unwrap_or(path), root)
        .take_while(|folder| *folder != "src")
        .any(|folder| ["tests", "benches", "examples"].iter().any(|name| folder == *name))
}

fn below<'a>(path: &'a Path, root: &Path) -> impl Iterator<Item = &'a std::ffi::OsStr> {
    path.strip_prefix(root).unwrap_or(Path::new("")).iter()
}
