//! The results of the last runs over one tree, in one file.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::envelope;
use super::fingerprint::Fingerprint;
use super::stamp::Stamp;

/// A judgement that so many saving runs did not need is dropped.
const KEPT_RUNS: u64 = 50;

/// All judgements together; the ones unused for longest go first.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What earlier runs have left. It is only read, by all threads at once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Results {
    /// Runs that have saved.
    run: u64,
    texts: HashMap<String, (Stamp, Fingerprint)>,
    judgements: HashMap<Fingerprint, Kept>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The run that has last used it.
    used: u64,
    bytes: Vec<u8>,
}

/// What this run adds.
#[derive(Debug, Default)]
pub(super) struct New {
    pub(super) texts: Vec<(String, Stamp, Fingerprint)>,
    pub(super) judgements: Vec<(Fingerprint, Vec<u8>)>,
    pub(super) used: Vec<Fingerprint>,
}

impl New {
    /// That something was used is not worth writing everything down again.
    pub(super) fn is_worth_saving(&self) -> bool {
        !self.texts.is_empty() || !self.judgements.is_empty()
    }
}

impl Results {
    pub(super) fn read(path: &Path) -> Self {
        let read = envelope::read(path).and_then(|bytes| postcard::from_bytes::<Self>(&bytes).ok());
        let mut results = read.unwrap_or_default();
        results.run += 1;
        results
    }

    pub(super) fn run(&self) -> u64 {
        self.run
    }

    pub(super) fn text_of(&self, path: &Path, stamp: Stamp) -> Option<Fingerprint> {
        let (known, text) = self.texts.get(path.to_str()?)?;
        (*known == stamp).then_some(*text)
    }

    pub(super) fn judgement(&self, of: Fingerprint) -> Option<&[u8]> {
        Some(&self.judgements.get(&of)?.bytes)
    }

    /// With what a run has added, and without what nobody has asked for in a long time. `asked` is how many texts the run
    /// has asked for.
    pub(super) fn add(&mut self, new: New, asked: usize) {
        for of in new.used {
            if let Some(kept) = self.judgements.get_mut(&of) {
                kept.used = self.run;
            }
        }
        let used = self.run;
        self.judgements.extend(new.judgements.into_iter().map(|(of, bytes)| (of, Kept { used, bytes })));
        self.texts.extend(new.texts.into_iter().map(|(path, stamp, text)| (path, (stamp, text))));
        self.forget(asked);
    }

    pub(super) fn write(&self, path: &Path) {
        if let Ok(bytes) = postcard::to_stdvec(self) {
            let _written = envelope::write(path, &bytes);
        }
    }

    fn forget(&mut self, asked: usize) {
        // Files go away. Others are of parts of the tree that other runs ask for.
        if self.texts.len() > 2 * asked + 10_000 {
            self.texts.retain(|path, _| Path::new(path).exists());
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
