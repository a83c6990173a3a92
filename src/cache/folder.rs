//! The folder that everything is kept in: where it is, how others know what it is, and how it is removed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs, io};

use etcetera::BaseStrategy;

/// The ending of files with results.
pub(super) const RESULTS: &str = "results";

/// Results of trees that nobody has checked for so long are dropped.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

const TAG: &str = "CACHEDIR.TAG";

/// As <https://bford.info/cachedir/> has it, so that backups leave it out.
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is leaselint's cache.\n";

/// Where a user's caches are: what `LEASELINT_CACHE_DIR` names (nowhere, when it is empty), or `leaselint` in the system's
/// folder for caches.
pub fn default_folder() -> Option<PathBuf> {
    match env::var_os("LEASELINT_CACHE_DIR") {
        Some(folder) => (!folder.is_empty()).then(|| folder.into()),
        None => Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("leaselint")),
    }
}

/// Makes the folder. What was there before and is not ours is left alone.
pub(super) fn prepare(folder: &Path) -> bool {
    if is_ours(folder) {
        return true;
    }
    let is_free = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    // A folder of a checkout that is named on purpose is nothing to commit.
    is_free
        && fs::create_dir_all(folder).is_ok()
        && fs::write(folder.join(".gitignore"), "*\n").is_ok()
        && fs::write(folder.join(TAG), TAG_TEXT).is_ok()
}

fn is_ours(folder: &Path) -> bool {
    fs::read_to_string(folder.join(TAG)).is_ok_and(|text| text == TAG_TEXT)
}

pub(super) fn tidy_results(folder: &Path) {
    let is_old = |path: &Path| {
        let modified = path.metadata().and_then(|found| found.modified());
        let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age > KEPT)
    };
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == RESULTS)) {
        if is_old(&path) {
            let _gone = fs::remove_file(path);
        }
    }
}

/// Why a cache is still there.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    #[error("{} is no cache of leaselint's: nothing in it was touched; name another folder with --cache-dir", .0.display())]
    Foreign(PathBuf),
    #[error("cannot remove {}: {source}", folder.display())]
    Kept { folder: PathBuf, source: io::Error },
}

/// Removes a cache; `false` when there is none.
pub fn clean(folder: &Path) -> Result<bool, CleanError> {
    if !folder.exists() {
        return Ok(false);
    }
    if !is_ours(folder) {
        return Err(CleanError::Foreign(folder.to_owned()));
    }
    fs::remove_dir_all(folder).map_err(|source| CleanError::Kept { folder: folder.to_owned(), source })?;
    Ok(true)
}
