//! The input of a run: which files there are, their texts, and where in them things stand.
//!
//! Files are numbered in the order of their shown paths, so that nothing depends on threads or on the
//! order of arguments. This room reads bytes; it parses nothing but manifests and knows no rule.

mod depth;
mod discovery;
mod manifest;
mod packages;
mod paths;
mod patterns;
mod prefilter;
mod read;
pub(crate) mod rust_tokens;
mod surroundings;
mod test_code;
pub(crate) mod tokens;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub use depth::{DEPTH_LIMIT, too_deep_at};
pub use discovery::{Discovery, Found, PathError, Request, discover};
pub use manifest::{Binary, Dependency, Manifest};
pub use packages::{Packages, read_packages};
pub use patterns::{PatternError, Patterns};
pub use prefilter::{Interest, Words};
pub use read::{ReadError, SIZE_LIMIT, read_text, read_unsaved};
pub use surroundings::{Roots, tree_of};
pub use test_code::without_test_modules;

use crate::facts::lines::{LineIndex, Position};
use crate::facts::{FileId, InputProblem, Span};

/// What a file is to the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    Rust,
    Sql,
    Lua,
    Manifest,
    /// A folder that could not be walked, so that there is a place to say so.
    Folder,
}

impl FileKind {
    /// The kind that a file's name tells; `None` for what is not checked.
    pub fn of(path: &Path) -> Option<Self> {
        if path.file_name()? == "Cargo.toml" {
            return Some(Self::Manifest);
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "rs" => Some(Self::Rust),
            "sql" => Some(Self::Sql),
            "lua" => Some(Self::Lua),
            _ => None,
        }
    }

    /// Whether it is source text that findings can be about, and that counts as checked.
    pub fn is_source(self) -> bool {
        matches!(self, Self::Rust | Self::Sql | Self::Lua)
    }
}

/// One file of the run.
#[derive(Debug)]
pub struct SourceFile {
    path: String,
    absolute: PathBuf,
    pub kind: FileKind,
    /// Findings in it are reported; otherwise it is context only.
    pub reported: bool,
    /// Stands in a `tests`, `benches` or `examples` folder.
    pub is_test: bool,
    kept: RwLock<Kept>,
}

/// What is kept of a file beside its name.
#[derive(Debug, Default)]
struct Kept {
    text: Option<Arc<str>>,
    lines: OnceLock<LineIndex>,
}

impl SourceFile {
    /// As shown to people: `/`-separated, relative to the working directory when below it.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// The shown path of its folder; empty for the working directory.
    pub fn dir(&self) -> &str {
        match self.path.rfind('/') {
            Some(0) => "/",
            Some(at) => &self.path[..at],
            None => "",
        }
    }
}

/// All files of the run, by number.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
    unsaved: Vec<Unsaved>,
}

/// A file as an editor holds it, whatever stands on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// Absolute, as the system resolves it; it need not exist.
    pub path: PathBuf,
    pub text: Arc<str>,
}

impl Sources {
    /// Numbers what was found. Folders that could not be walked come back as problems.
    pub fn new(found: Discovery, working_directory: &Path) -> (Self, Vec<InputProblem>) {
        let mut entries: Vec<(String, PathBuf, Found)> = found
            .files
            .into_iter()
            .map(|(absolute, found)| (paths::shown(&absolute, working_directory), absolute, found))
            .collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let mut sources = Self::default();
        let mut problems = Vec::new();
        for (path, absolute, Found { kind, reported, is_test, trouble }) in entries {
            let file = to_id(sources.files.len());
            problems.extend(trouble.map(|reason| unreadable_folder(file, &reason)));
            let kept = RwLock::default();
            sources.files.push(SourceFile { path, absolute, kind, reported, is_test, kept });
        }
        (sources, problems)
    }

    /// Puts the texts of an editor in the place of the files'.
    pub fn set_unsaved(&mut self, unsaved: Vec<Unsaved>) {
        self.unsaved = unsaved;
    }

    /// Reads a file's text, or takes the editor's.
    pub fn read(&self, file: FileId) -> Result<String, ReadError> {
        let path = self.absolute(file);
        match self.unsaved.iter().find(|unsaved| unsaved.path == path) {
            Some(unsaved) => Ok(unsaved.text.as_ref().to_owned()),
            None => read_text(path),
        }
    }

    /// Whether an editor holds it.
    pub fn is_unsaved(&self, file: FileId) -> bool {
        let path = self.absolute(file);
        self.unsaved.iter().any(|unsaved| unsaved.path == path)
    }

    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(at, file)| (to_id(at), file))
    }

    /// # Panics
    /// When the number is not one of this run's.
    pub fn file(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }

    pub fn path(&self, file: FileId) -> &str {
        &self.file(file).path
    }

    /// The path from a folder, as [`Sources::path`] is from the working directory.
    pub fn path_from(&self, file: FileId, folder: &Path) -> String {
        paths::shown(self.absolute(file), folder)
    }

    pub fn absolute(&self, file: FileId) -> &Path {
        &self.file(file).absolute
    }

    /// The text, where it was kept: for parsed files, manifests, and what is legible of broken ones.
    pub fn text(&self, file: FileId) -> Option<Arc<str>> {
        self.file(file).kept.read().unwrap_or_else(PoisonError::into_inner).text.clone()
    }

    /// Keeps a text for the analysis and the reports.
    pub fn keep_text(&self, file: FileId, text: Arc<str>) {
        self.set_kept(file, Kept { text: Some(text), lines: OnceLock::new() });
    }

    /// Lets go of a text that nobody will ask for any more.
    pub fn forget_text(&self, file: FileId) {
        self.set_kept(file, Kept::default());
    }

    fn set_kept(&self, file: FileId, kept: Kept) {
        *self.file(file).kept.write().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    /// Line and column of a byte; 1:1 in a file whose text was not kept.
    pub fn position(&self, file: FileId, offset: u32) -> Position {
        let kept = self.file(file).kept.read().unwrap_or_else(PoisonError::into_inner);
        match &kept.text {
            Some(text) => kept.lines.get_or_init(|| LineIndex::new(text)).position(text, offset),
            None => Position { line: 1, column: 1 },
        }
    }
}

impl Sources {
    /// A byte as people write it: `path:line:column`.
    pub fn place(&self, file: FileId, offset: u32) -> String {
        let position = self.position(file, offset);
        format!("{}:{}:{}", self.path(file), position.line, position.column)
    }
}

fn to_id(at: usize) -> FileId {
    FileId(u32::try_from(at).expect("a run of four thousand million files cannot be held in memory"))
}

fn unreadable_folder(file: FileId, reason: &str) -> InputProblem {
    InputProblem {
        file,
        span: Span::default(),
        message: format!("the folder cannot be walked, so that nothing in it is checked: {reason}"),
        help: "make the folder readable, or add it to `.ignore`".to_owned(),
    }
}

#[cfg(test)]
mod tests;

impl crate::facts::Texts for Sources {
    fn text(&self, file: FileId) -> Option<Arc<str>> {
        Sources::text(self, file)
    }
}

impl crate::report::SourceView for Sources {
    fn path(&self, file: FileId) -> &str {
        Sources::path(self, file)
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        Sources::text(self, file)
    }
}
