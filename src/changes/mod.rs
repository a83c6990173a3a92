//! Which lines of which files have changed since a revision, as git tells. It knows no finding.

mod diff;
mod tree;
mod uncommitted;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use tree::check_out;
pub use uncommitted::{UncommittedError, refuse_uncommitted};

/// Lines from 1, both ends included.
pub type Lines = (u32, u32);

/// The changed lines of every changed file, by absolute path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<PathBuf, Vec<Lines>>,
}

/// Why git could not tell.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    #[error("comparing with a revision needs git, which cannot be run: {0}")]
    NoGit(io::Error),
    #[error("git cannot tell what has changed since `{revision}`: {message}")]
    Refused { revision: String, message: String },
}

impl Changes {
    /// What differs in the working tree from where the revision and the current commit part, files that git
    /// does not know yet included.
    pub fn since(revision: &str, working_directory: &Path) -> Result<Self, ChangesError> {
        let git = Git { revision, working_directory };
        let root = git.run(&["rev-parse", "--show-toplevel"])?;
        let root = PathBuf::from(root.trim_end_matches(['\r', '\n']));
        let root = root.canonicalize().unwrap_or(root);
        let base = git.commit()?;
        let parted = git.run(&["merge-base", &base, "HEAD"]);
        let start = parted.as_deref().map_or(base.as_str(), str::trim);
        let diff = git.run(&[
            "-c",
            "core.quotePath=false",
            "diff",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            start,
            "--",
        ])?;
        let mut files: BTreeMap<PathBuf, Vec<Lines>> =
            diff::read(&diff).into_iter().map(|(path, lines)| (root.join(path), lines)).collect();
        let unknown = git.run(&["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"])?;
        for path in unknown.split('\0').filter(|path| !path.is_empty()) {
            files.insert(root.join(path), vec![(1, u32::MAX)]);
        }
        Ok(Self { files })
    }

    /// Whether any of these lines has changed.
    pub fn touch(&self, path: &Path, (first, last): Lines) -> bool {
        let changed = self.files.get(path).into_iter().flatten();
        changed.into_iter().any(|(from, to)| *from <= last && first <= *to)
    }
}

struct Git<'a> {
    revision: &'a str,
    working_directory: &'a Path,
}

impl Git<'_> {
    /// The revision's commit. An option-like revision is refused rather than obeyed.
    fn commit(&self) -> Result<String, ChangesError> {
        let named = format!("{}^{{commit}}", self.revision);
        match self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &named]) {
            Ok(commit) => Ok(commit.trim().to_owned()),
            Err(ChangesError::Refused { revision, message }) if message.is_empty() => {
                let message = "there is no such commit (a shallow clone may lack it)".to_owned();
                Err(ChangesError::Refused { revision, message })
            }
            Err(other) => Err(other),
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<String, ChangesError> {
        let output = Command::new(OsStr::new("git"))
            .args(arguments)
            .current_dir(self.working_directory)
            // What is asked is about this folder, not about the hook that may have called us.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .output()
            .map_err(ChangesError::NoGit)?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            let message = message.lines().next().unwrap_or("").trim_start_matches("fatal: ").to_owned();
            return Err(ChangesError::Refused { revision: self.revision.to_owned(), message });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
