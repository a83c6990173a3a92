//! Runs of the checker in the background: when one starts, when one is given up, and what the last one found.
//!
//! One run goes on at a time. A change makes the one that goes on worthless, so that it is stopped, and the next
//! one waits until the person has stopped typing.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use crate::check::{KeptFacts, Report, Stop};
use crate::sources::{Sources, Unsaved};

/// How long nothing may change before a run starts.
pub(super) const PAUSE: Duration = Duration::from_millis(150);

/// One run over folders and single files.
#[derive(Debug, Clone)]
pub struct Job {
    /// Absolute, as the system resolves them; never empty.
    pub paths: Vec<PathBuf>,
    /// The folder that messages name paths from.
    pub working_directory: PathBuf,
    pub unsaved: Vec<Unsaved>,
    pub kept: Arc<KeptFacts>,
    pub stop: Stop,
}

/// Why a run has no report.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error("the run was stopped")]
    Stopped,
    /// Such as a configuration that cannot be read.
    #[error("{0}")]
    Failed(String),
}

/// What runs the checker.
pub type Analyse = dyn Fn(&Job) -> Result<(Report, Sources), AnalysisError> + Send + Sync;

/// The end of a run.
pub(super) struct Done {
    pub(super) revision: u64,
    pub(super) result: Result<(Report, Sources), AnalysisError>,
}

/// What the last run that had a report found.
#[derive(Default)]
pub(super) struct Analysed {
    pub(super) revision: u64,
    pub(super) report: Report,
    pub(super) sources: Sources,
}

/// Which run is due, and which goes on.
#[derive(Default)]
pub(super) struct Schedule {
    /// Counts the changes.
    revision: u64,
    due: Option<Instant>,
    running: Option<Stop>,
    kept: Arc<KeptFacts>,
}

impl Schedule {
    /// Something is not as it was: a run after this pause.
    pub(super) fn changed(&mut self, pause: Duration) {
        self.revision += 1;
        self.due = Instant::now().checked_add(pause);
        self.stop();
    }

    /// What goes on is not waited for any more.
    pub(super) fn stop(&self) {
        self.running.iter().for_each(Stop::give);
    }

    pub(super) fn is_current(&self, analysed: &Analysed) -> bool {
        self.revision == analysed.revision
    }

    /// When to call `start`; `None` while there is nothing to run, or something runs.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.running.is_none())
    }

    /// Starts the run that is due; its end is sent.
    pub(super) fn start(
        &mut self,
        (paths, working_directory): (Vec<PathBuf>, PathBuf),
        unsaved: Vec<Unsaved>,
        analyse: &Arc<Analyse>,
        ends: &Sender<Done>,
    ) {
        self.due = None;
        let stop = Stop::default();
        let job = Job { paths, working_directory, unsaved, kept: self.kept.clone(), stop: stop.clone() };
        let (revision, analyse, ends) = (self.revision, analyse.clone(), ends.clone());
        let run = move || {
            let result = analyse(&job);
            // Where nobody listens any more, the server has ended.
            let _ = ends.send(Done { revision, result });
        };
        if thread::Builder::new().name("run".to_owned()).spawn(run).is_ok() {
            self.running = Some(stop);
        }
    }

    pub(super) fn ended(&mut self) {
        self.running = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_stops_what_goes_on_and_what_follows_waits_for_its_end() {
        let (ends, done) = crossbeam_channel::unbounded();
        let analyse: Arc<Analyse> = Arc::new(|job: &Job| {
            while !job.stop.is_given() {
                thread::sleep(Duration::from_millis(1));
            }
            Err(AnalysisError::Stopped)
        });
        let mut schedule = Schedule::default();
        assert!(schedule.due().is_none());
        schedule.changed(PAUSE);
        assert!(schedule.due().is_some());
        schedule.start((Vec::new(), PathBuf::new()), Vec::new(), &analyse, &ends);
        schedule.changed(PAUSE);
        assert!(schedule.due().is_none());
        let end = done.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(matches!(end, Done { revision: 1, result: Err(AnalysisError::Stopped) }));
        schedule.ended();
        assert!(schedule.due().is_some());
    }
}
