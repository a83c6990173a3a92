//! The tree of a revision, written to a folder of its own. The repository, its index and its work tree stay as they
//! are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{ChangesError, Git};

/// Writes the tree of a revision into a folder; gives where the working directory lies in it.
pub fn check_out(revision: &str, working_directory: &Path, into: &Path) -> Result<PathBuf, ChangesError> {
    let git = Git { revision, working_directory };
    let root = git.run(&["rev-parse", "--show-toplevel"])?;
    let root = PathBuf::from(root.trim_end_matches(['\r', '\n']));
    let root = root.canonicalize().unwrap_or(root);
    let commit = git.commit()?;
    let index = into.join("index");
    let tree = into.join("tree");
    run(&git, &index, &[OsStr::new("read-tree"), OsStr::new(&commit)])?;
    // The trailing separator makes it a folder.
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(&tree);
    prefix.push("/");
    run(&git, &index, &[OsStr::new("checkout-index"), OsStr::new("--all"), &prefix])?;
    Ok(tree.join(working_directory.strip_prefix(&root).unwrap_or(Path::new(""))))
}

fn run(git: &Git<'_>, index: &Path, arguments: &[&OsStr]) -> Result<(), ChangesError> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(git.working_directory)
        .env("GIT_INDEX_FILE", index)
        .output()
        .map_err(ChangesError::NoGit)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.lines().next().unwrap_or("").trim_start_matches("fatal: ").to_owned();
    Err(ChangesError::Refused { revision: git.revision.to_owned(), message })
}
