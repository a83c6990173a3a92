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
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use fingerprint::{Fingerprint, Mixer};
pub use folder::{CleanError, clean, default_folder};

use facts::FactsFolder;
use results::Results;
use stamp::Stamp;

/// What is kept, for one run at a time.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Its results are in a file of their own.
    root: Fingerprint,
    facts: FactsFolder,
    results: Mutex<Results>,
    /// Whether the folder can be written.
    is_ready: OnceLock<bool>,
}

impl Cache {
    /// Opens what is kept in a folder for the tree at `root`; the folder need not exist.
    pub fn open(folder: PathBuf, root: &Path) -> Self {
        let root = Fingerprint::of(root.as_os_str().as_encoded_bytes());
        let results = Mutex::new(Results::read(&results_file(&folder, root)));
        Self { facts: FactsFolder::new(&folder), folder, root, results, is_ready: OnceLock::new() }
    }

    /// The fingerprint of a file's text, where the file has not been touched since it was last read.
    pub fn known_text(&self, path: &Path) -> Option<Fingerprint> {
        self.results().text_of(path, Stamp::of(path)?)
    }

    /// Takes down what a file's text was, for later runs. `before` is from before it was read.
    pub fn note_text(&self, path: &Path, before: Option<FileState>, text: Fingerprint) {
        if let Some(stamp) = before.and_then(|state| state.0.settled()) {
            self.results().note_text(path, stamp, text);
        }
    }

    /// What was kept under this fingerprint of a project.
    pub fn judgement<T: DeserializeOwned>(&self, of: Fingerprint) -> Option<T> {
        postcard::from_bytes(&self.results().judgement(of)?).ok()
    }

    pub fn keep_judgement(&self, of: Fingerprint, judgement: &impl Serialize) {
        if let Ok(bytes) = postcard::to_stdvec(judgement) {
            self.results().keep_judgement(of, bytes);
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

    fn is_ready(&self) -> bool {
        *self.is_ready.get_or_init(|| folder::prepare(&self.folder))
    }

    /// Writes down what is new. A run that was stopped may do it as well.
    pub fn save(&self) {
        let mut results = self.results();
        if results.is_changed() && self.is_ready() {
            results.write(&results_file(&self.folder, self.root));
            self.facts.tidy(results.run());
            folder::tidy_results(&self.folder);
        }
    }

    fn results(&self) -> MutexGuard<'_, Results> {
        // A thread that panicked has left whole entries, or none.
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the system says of a file, its text aside.
#[derive(Debug, Clone, Copy)]
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
