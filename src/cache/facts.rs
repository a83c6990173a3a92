//! What the front ends have made of files, one file for each text: a text that is the same in two trees has its facts
//! once, and a run reads those of the files that it needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::envelope;
use super::fingerprint::Fingerprint;

/// All facts together, in bytes.
const MOST: u64 = 512 * 1024 * 1024;

/// How often their sizes are added up.
const TIDIED_EVERY: u64 = 16;

#[derive(Debug)]
pub(super) struct FactsFolder {
    folder: PathBuf,
    written: AtomicU64,
}

impl FactsFolder {
    pub(super) fn new(cache: &Path) -> Self {
        Self { folder: cache.join("facts"), written: AtomicU64::new(0) }
    }

    pub(super) fn read<T: DeserializeOwned>(&self, of: Fingerprint) -> Option<T> {
        postcard::from_bytes(&envelope::read(&self.file(of))?).ok()
    }

    pub(super) fn write(&self, of: Fingerprint, facts: &impl Serialize) {
        let written =
            postcard::to_stdvec(facts).ok().and_then(|bytes| envelope::write(&self.file(of), &bytes));
        self.written.fetch_add(written.unwrap_or(0), Ordering::Relaxed);
    }

    /// In folders of a few hundred.
    fn file(&self, of: Fingerprint) -> PathBuf {
        let name = of.to_string();
        self.folder.join(&name[..2]).join(name)
    }

    /// Drops the oldest when there are too many.
    pub(super) fn tidy(&self, run: u64) {
        let written = self.written.load(Ordering::Relaxed);
        if written == 0 || (written < MOST / 8 && !run.is_multiple_of(TIDIED_EVERY)) {
            return;
        }
        let mut files: Vec<(SystemTime, u64, PathBuf)> = folders(&self.folder)
            .flat_map(|folder| folders(&folder))
            .filter_map(|path| {
                let found = path.metadata().ok()?;
                Some((found.modified().ok()?, found.len(), path))
            })
            .collect();
        files.sort();
        let mut total: u64 = files.iter().map(|(_, length, _)| length).sum();
        if total <= MOST {
            return;
        }
        for (_, length, path) in files {
            if total <= MOST / 4 * 3 {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= length;
            }
        }
    }
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}
