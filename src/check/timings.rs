//! How long the stages of a run take, for `--timings`. Stages go on side by side, so that each is the sum over all
//! threads, and the sum of all can be more than the run took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The tree is walked.
    Walk,
    Read,
    /// Bytes are searched for words that make a file worth parsing.
    Prefilter,
    /// What is kept from earlier runs is read, asked and written.
    Cache,
    /// From texts to facts.
    Parse,
    /// Which other files are needed is found out.
    Demand,
    /// From facts to the inventory of locks.
    Resolve,
    Rules,
    /// Findings are given their runs.
    Proof,
    /// Findings become text.
    Report,
}

impl Stage {
    pub const ALL: [Self; 10] = [
        Self::Walk,
        Self::Read,
        Self::Prefilter,
        Self::Cache,
        Self::Parse,
        Self::Demand,
        Self::Resolve,
        Self::Rules,
        Self::Proof,
        Self::Report,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Read => "read",
            Self::Prefilter => "prefilter",
            Self::Cache => "cache",
            Self::Parse => "parse",
            Self::Demand => "demand",
            Self::Resolve => "resolve",
            Self::Rules => "rules",
            Self::Proof => "proof",
            Self::Report => "report",
        }
    }
}

/// Times that all clones share.
#[derive(Debug, Clone, Default)]
pub struct Timings(Arc<Times>);

#[derive(Debug, Default)]
struct Times {
    nanoseconds: [AtomicU64; Stage::ALL.len()],
    projects: Mutex<Vec<(Duration, String)>>,
}

impl Timings {
    /// Does some work of a stage. Work inside it that is of another stage must not be measured by itself.
    pub fn of<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.nanoseconds[stage as usize].fetch_add(took, Ordering::Relaxed);
        done
    }

    pub fn taken(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.0.nanoseconds[stage as usize].load(Ordering::Relaxed))
    }

    pub(super) fn project(&self, took: Duration, name: String) {
        self.0.projects.lock().unwrap_or_else(PoisonError::into_inner).push((took, name));
    }

    /// The projects that took longest, with all their files, the longest first.
    pub fn slowest(&self, count: usize) -> Vec<(Duration, String)> {
        let mut projects = self.0.projects.lock().unwrap_or_else(PoisonError::into_inner).clone();
        projects.sort_by(|a, b| b.cmp(a));
        projects.truncate(count);
        projects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_stage_add_up_and_stages_are_apart() {
        let timings = Timings::default();
        for _ in 0..2 {
            assert_eq!(timings.of(Stage::Rules, || std::thread::sleep(Duration::from_millis(5))), ());
        }
        assert!(timings.taken(Stage::Rules) >= Duration::from_millis(10));
        assert_eq!(timings.taken(Stage::Report), Duration::ZERO);
        assert!(Stage::ALL.iter().enumerate().all(|(at, stage)| *stage as usize == at));
    }

    #[test]
    fn the_slowest_projects_come_first() {
        let timings = Timings::default();
        for (took, name) in [(1, "a"), (3, "b"), (2, "c")] {
            timings.project(Duration::from_secs(took), name.to_owned());
        }
        let names: Vec<String> = timings.slowest(2).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["b", "c"]);
    }
}
