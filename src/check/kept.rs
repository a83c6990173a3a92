//! What one run leaves to the next: the facts of files whose texts are the same. An editor asks again with each
//! key that is pressed, and all files but one are as they were.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::facts::InputProblem;
use crate::facts::file::FileFacts;
use crate::facts::sql::Dialect;
use crate::facts::suppression::FileSuppressions;

/// Facts by the path of their file, for the runs of one process.
#[derive(Debug, Default)]
pub struct KeptFacts {
    files: Mutex<HashMap<PathBuf, Kept>>,
}

#[derive(Debug, Clone)]
struct Kept {
    text: Arc<str>,
    how: How,
    read: Read,
}

/// What decides about the facts beside the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    pub(super) dialect: Option<Dialect>,
    pub(super) skips_tests: bool,
}

/// What the front ends make of a text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) facts: Arc<FileFacts>,
    pub(super) suppressions: FileSuppressions,
    pub(super) problems: Vec<InputProblem>,
}

impl KeptFacts {
    /// What was made of this very text before, or what is made of it now.
    pub(super) fn read(&self, path: &Path, text: &Arc<str>, how: How, make: impl FnOnce() -> Read) -> Read {
        // A thread that panicked has left whole entries, or none.
        let files = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = files().get(path).filter(|kept| kept.how == how && kept.text == *text) {
            return kept.read.clone();
        }
        let read = make();
        files().insert(path.to_owned(), Kept { text: text.clone(), how, read: read.clone() });
        read
    }

    /// Forgets all other files.
    pub(super) fn keep_only(&self, paths: &BTreeSet<&Path>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|path, _| paths.contains(path.as_path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Read {
        let (facts, suppressions) = (Arc::new(FileFacts::Unreadable), FileSuppressions::default());
        Read { facts, suppressions, problems: Vec::new() }
    }

    #[test]
    fn a_text_is_read_once_until_it_changes_or_is_to_be_read_otherwise() {
        let kept = KeptFacts::default();
        let how = How { dialect: None, skips_tests: true };
        let mut times = 0;
        let mut read = |text: &str, how| {
            kept.read(Path::new("a.rs"), &text.into(), how, || {
                times += 1;
                nothing()
            });
            times
        };
        assert_eq!((read("a", how), read("a", how), read("b", how)), (1, 1, 2));
        assert_eq!(read("b", How { skips_tests: false, ..how }), 3);
        kept.keep_only(&BTreeSet::new());
        assert!(kept.files.lock().unwrap().is_empty());
    }
}
