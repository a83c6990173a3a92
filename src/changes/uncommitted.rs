//! Which files hold changes that git has not been given yet.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Why files must not be changed.
#[derive(Debug, thiserror::Error)]
pub enum UncommittedError {
    #[error("{} has changes that are not committed; commit them, or give --allow-dirty", .0.display())]
    Changed(PathBuf),
    #[error("{} is not under git, so that a fix could not be undone; give --allow-dirty to change it all the same", .0.display())]
    Unknown(PathBuf),
}

/// Refuses files whose changes would be mixed with ours.
pub fn refuse_uncommitted(files: &[&Path]) -> Result<(), UncommittedError> {
    for file in files {
        let unknown = || UncommittedError::Unknown(file.to_path_buf());
        let (folder, name) = file.parent().zip(file.file_name()).ok_or_else(unknown)?;
        let output = Command::new("git")
            .args(["status", "--porcelain", "--ignored", "--untracked-files=all", "--"])
            .arg(name)
            .current_dir(folder)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .output()
            .map_err(|_| unknown())?;
        if !output.status.success() {
            return Err(unknown());
        }
        if !output.stdout.is_empty() {
            return Err(UncommittedError::Changed(file.to_path_buf()));
        }
    }
    Ok(())
}
