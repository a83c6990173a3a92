//! Whether a file is the one that was read before, without reading it.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// What the system says of a file. It changes with every write: the time of the last change of the file's own data
/// cannot be set by programs. Times are nanoseconds since the epoch, as the file system has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    length: u64,
    modified: i128,
    changed: i128,
    file: u64,
    device: u64,
}

/// A file that was written so short ago can be written again without a new time: clocks of file systems have steps,
/// the coarsest of two seconds.
const STEP: Duration = Duration::from_secs(2);

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        const SECOND: i128 = 1_000_000_000;
        let found = path.metadata().ok()?;
        Some(Self {
            length: found.len(),
            modified: i128::from(found.mtime()) * SECOND + i128::from(found.mtime_nsec()),
            changed: i128::from(found.ctime()) * SECOND + i128::from(found.ctime_nsec()),
            file: found.ino(),
            device: found.dev(),
        })
    }

    /// Other systems do not tell enough: there, every file is read.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Option<Self> {
        None
    }

    /// The stamp, where a later write to the file must change it.
    pub(super) fn settled(self) -> Option<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let newest = i128::try_from(now.checked_sub(STEP)?.as_nanos()).ok()?;
        (self.changed < newest && self.modified < newest).then_some(self)
    }
}
