//! What runs leave to later ones on disk: what was judged of a project, what the front ends made of a file, and which
//! files are as they were.
//!
//! Everything is kept under a fingerprint of all that it depends on, this build of leaselint among it, so that
//! nothing kept can ever be wrong, only missing. Whatever cannot be read is as good as not there, and whatever cannot
//! be written is made again next time: the cache costs time when it fails, and says nothing.
//!
//! It lies in the user's own cache folder. A folder in the checked tree could come with the tree, and with it
//! judgements that somebody else has written.

mod envelope;
mod facts;
mod fingerprint;
mod folder;
mod results;
mod stamp;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use fingerprint::{Fingerprint, Mixer};
pub use folder::{CleanError, clean, default_folder};

use facts::FactsFolder;
use results::{New, Results};
use stamp::Stamp;

/// What is kept, for one run at a time.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Its results are in a file of their own.
    root: Fingerprint,
    facts: FactsFolder,
    known: Results,
    new: Mutex<New>,
    /// How many texts this run has asked for.
    asked: AtomicUsize,
    /// Whether the folder can be written.
    is_ready: OnceLock<bool>,
}

impl Cache {
    /// Opens what is kept in a folder for the tree at `root`; the folder need not exist.
    pub fn open(folder: PathBuf, root: &Path) -> Self {
        let root = Fingerprint::of(root.as_os_str().as_encoded_bytes());
        Self {
            known: Results::read(&results_file(&folder, root)),
            facts: FactsFolder::new(&folder),
            folder,
            root,
            new: Mutex::default(),
            asked: AtomicUsize::new(0),
            is_ready: OnceLock::new(),
        }
    }

    /// The fingerprint of a file's text, where the file has not been touched since it was last read.
    pub fn known_text(&self, path: &Path, state: FileState) -> Option<Fingerprint> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.known.text_of(path, state.0)
    }

    /// Takes down what a file's text was, for later runs. The state is from before it was read.
    pub fn note_text(&self, path: &Path, before: Option<FileState>, text: Fingerprint) {
        let stamp = before.and_then(|state| state.0.settled());
        if let (Some(stamp), Some(path)) = (stamp, path.to_str()) {
            self.added().texts.push((path.to_owned(), stamp, text));
        }
    }

    /// What was kept under this fingerprint of a project.
    pub fn judgement<T: DeserializeOwned>(&self, of: Fingerprint) -> Option<T> {
        let judgement = postcard::from_bytes(self.known.judgement(of)?).ok()?;
        self.added().used.push(of);
        Some(judgement)
    }

    pub fn keep_judgement(&self, of: Fingerprint, judgement: &impl Serialize) {
        if let Ok(bytes) = postcard::to_stdvec(judgement) {
            self.added().judgements.push((of, bytes));
        }
    }

    /// What was kept under this fingerprint of a file.
    pub fn facts<T: DeserializeOwned>(&self, of: Fingerprint) -> Option<T> {
        self.facts.read(of)
    }

    pub fn keep_facts(&self, of: Fingerprint, facts: &impl Serialize) {
        if self.is_ready() {
            self.facts.write(of, facts);
        }
    }

    /// Writes down what is new; at the end of the run.
    pub fn save(&self) {
        let new = std::mem::take(&mut *self.added());
        if !new.is_worth_saving() || !self.is_ready() {
            return;
        }
        // What another run has saved meanwhile is not lost.
        let file = results_file(&self.folder, self.root);
        let mut all = Results::read(&file);
        all.add(new, self.asked.load(Ordering::Relaxed));
        all.write(&file);
        self.facts.tidy(all.run());
        folder::tidy_results(&self.folder);
    }

    fn is_ready(&self) -> bool {
        *self.is_ready.get_or_init(|| folder::prepare(&self.folder))
    }

    fn added(&self) -> MutexGuard<'_, New> {
        // A thread that panicked has left whole entries, or none.
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the system says of a file, its text aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState(Stamp);

impl FileState {
    pub fn of(path: &Path) -> Option<Self> {
        Stamp::of(path).map(Self)
    }
}

fn results_file(folder: &Path, root: Fingerprint) -> PathBuf {
    folder.join(format!("{root}.{}", folder::RESULTS))
}

#[cfg(test)]
mod tests;
