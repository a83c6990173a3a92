//! The results of the last runs over one tree, in one file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::envelope;
use super::fingerprint::Fingerprint;
use super::stamp::Stamp;

/// A judgement that so many saving runs did not need is dropped.
const KEPT_RUNS: u64 = 50;

/// All judgements together; the ones unused for longest go first.
const MOST_BYTES: usize = 32 * 1024 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Results {
    /// Runs that have saved.
    run: u64,
    texts: HashMap<String, (Stamp, Fingerprint)>,
    judgements: HashMap<Fingerprint, Kept>,
    #[serde(skip)]
    is_changed: bool,
    /// Paths that this run has asked for.
    #[serde(skip)]
    asked: HashSet<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The run that has last used it.
    used: u64,
    bytes: Vec<u8>,
}

impl Results {
    pub(super) fn read(path: &Path) -> Self {
        let read = envelope::read(path).and_then(|bytes| postcard::from_bytes::<Self>(&bytes).ok());
        let mut results = read.unwrap_or_default();
        results.run += 1;
        results
    }

    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    pub(super) fn run(&self) -> u64 {
        self.run
    }

    pub(super) fn text_of(&mut self, path: &Path, stamp: Stamp) -> Option<Fingerprint> {
        let path = path.to_str()?;
        let (known, text) = self.texts.get(path)?;
        let is_same = *known == stamp;
        let text = *text;
        self.asked.insert(path.to_owned());
        is_same.then_some(text)
    }

    pub(super) fn note_text(&mut self, path: &Path, stamp: Stamp, text: Fingerprint) {
        if let Some(path) = path.to_str() {
            self.is_changed = true;
            self.asked.insert(path.to_owned());
            self.texts.insert(path.to_owned(), (stamp, text));
        }
    }

    pub(super) fn judgement(&mut self, of: Fingerprint) -> Option<Vec<u8>> {
        let kept = self.judgements.get_mut(&of)?;
        kept.used = self.run;
        Some(kept.bytes.clone())
    }

    pub(super) fn keep_judgement(&mut self, of: Fingerprint, bytes: Vec<u8>) {
        self.is_changed = true;
        self.judgements.insert(of, Kept { used: self.run, bytes });
    }

    pub(super) fn write(&mut self, path: &Path) {
        self.forget();
        if let Ok(bytes) = postcard::to_stdvec(self) {
            let _written = envelope::write(path, &bytes);
        }
        self.is_changed = false;
    }

    /// Forgets what nobody has asked for in a long time.
    fn forget(&mut self) {
        // Files go away, and other runs over this tree ask for other parts of it.
        if self.texts.len() > 2 * self.asked.len() + 10_000 {
            self.texts.retain(|path, _| self.asked.contains(path));
        }
        let oldest = self.run.saturating_sub(KEPT_RUNS);
        self.judgements.retain(|_, kept| kept.used >= oldest);
        let mut by_use: Vec<(u64, usize, Fingerprint)> =
            self.judgements.iter().map(|(of, kept)| (kept.used, kept.bytes.len(), *of)).collect();
        by_use.sort_unstable();
        let mut total: usize = by_use.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, of) in by_use {
            if total <= MOST_BYTES {
                break;
            }
            total -= bytes;
            self.judgements.remove(&of);
        }
    }
}
