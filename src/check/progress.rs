//! How far a run has come, for whoever watches it from another thread. It decides nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts that all clones share.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    found: AtomicUsize,
    read: AtomicUsize,
    wanted: AtomicUsize,
    parsed: AtomicUsize,
    resolving: AtomicUsize,
}

/// What a run is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The tree is walked.
    Finding,
    Reading {
        done: usize,
        of: usize,
    },
    /// Parsed files may ask for more, so that `of` can grow.
    Parsing {
        done: usize,
        of: usize,
    },
    /// All that comes after the files: values, locks, rules.
    Resolving,
}

impl Progress {
    pub fn step(&self) -> Step {
        let Counts { found, read, wanted, parsed, resolving } = &*self.0;
        let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
        if count(resolving) > 0 {
            Step::Resolving
        } else if count(wanted) > 0 {
            Step::Parsing { done: count(parsed), of: count(wanted) }
        } else if count(found) > 0 {
            Step::Reading { done: count(read), of: count(found) }
        } else {
            Step::Finding
        }
    }

    /// One clone may watch several runs, one after another.
    pub(super) fn begin(&self) {
        let Counts { found, read, wanted, parsed, resolving } = &*self.0;
        [resolving, wanted, parsed, found, read].iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    pub(super) fn found(&self, files: usize) {
        self.0.found.store(files, Ordering::Relaxed);
    }

    pub(super) fn read_one(&self) {
        self.0.read.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn wants(&self, files: usize) {
        self.0.wanted.fetch_add(files, Ordering::Relaxed);
    }

    pub(super) fn parsed_one(&self) {
        self.0.parsed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn resolves(&self) {
        self.0.resolving.store(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_through_its_steps_and_another_one_begins_anew() {
        let progress = Progress::default();
        let watched = progress.clone();
        assert_eq!(watched.step(), Step::Finding);
        progress.found(3);
        progress.read_one();
        assert_eq!(watched.step(), Step::Reading { done: 1, of: 3 });
        progress.wants(2);
        progress.parsed_one();
        progress.wants(1);
        assert_eq!(watched.step(), Step::Parsing { done: 1, of: 3 });
        progress.resolves();
        assert_eq!(watched.step(), Step::Resolving);
        progress.begin();
        assert_eq!(watched.step(), Step::Finding);
    }
}
