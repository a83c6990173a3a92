//! A line on the terminal that says how far a long run has come. Whoever runs us without a terminal sees nothing
//! of it, and nor does anybody whose run is short.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use std::{env, thread};

use indicatif::{ProgressBar, ProgressStyle};

use crate::check::{Progress, Step};

/// How long a run may take before anybody wonders.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);

/// Does some work, and shows its progress where there is somebody to see it.
pub(super) fn shown<T>(wanted: bool, progress: &Progress, work: impl FnOnce() -> T) -> T {
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !wanted || is_dumb || !io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (working, ended) = mpsc::channel();
        scope.spawn(move || show(progress, &ended));
        let result = work();
        drop(working);
        result
    })
}

/// Until the other end is dropped.
fn show(progress: &Progress, ended: &Receiver<()>) {
    let goes_on = |wait| ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
    if !goes_on(PATIENCE) {
        return;
    }
    let bar = ProgressBar::new_spinner().with_elapsed(PATIENCE);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
        bar.set_style(style);
    }
    loop {
        bar.set_message(line(progress.step()));
        bar.tick();
        if !goes_on(BETWEEN_FRAMES) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// No name of a file, so that nothing in it can steer the terminal.
fn line(step: Step) -> String {
    match step {
        Step::Finding => "looking for files".to_owned(),
        Step::Reading { done, of } => format!("reading {done} of {of} files"),
        Step::Parsing { done, of } => format!("parsing {done} of {of} files"),
        Step::Resolving => "following locks".to_owned(),
    }
}
