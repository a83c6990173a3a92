//! Ending a run before it is done, because nobody waits for its report any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A sign that all its clones share. Once given it stays.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
