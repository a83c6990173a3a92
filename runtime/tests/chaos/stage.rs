//! The stages of a worker's round, and signals that it sends itself at one: so a fault strikes exactly there, and not
//! a little earlier or later.

use std::sync::Mutex;

use rustix::process::{Signal, getpid, kill_process};

use crate::history::{Event, Journal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Acquiring,
    Granted,
    Claimed,
    Read,
    InTransaction,
    BeforeCommit,
    Committed,
    Releasing,
}

impl Stage {
    pub const ALL: [Self; 8] = [
        Self::Acquiring,
        Self::Granted,
        Self::Claimed,
        Self::Read,
        Self::InTransaction,
        Self::BeforeCommit,
        Self::Committed,
        Self::Releasing,
    ];
}

/// What a worker was told to do at a stage.
#[derive(Debug)]
pub struct Orders {
    journal: std::sync::Arc<Journal>,
    armed: Mutex<Option<(Stage, Signal)>>,
}

impl Orders {
    pub fn new(journal: std::sync::Arc<Journal>) -> Self {
        Self { journal, armed: Mutex::default() }
    }

    pub fn arm(&self, stage: Stage, signal: Signal) {
        *self.armed.lock().expect("nobody panics with it") = Some((stage, signal));
    }

    pub fn reached(&self, stage: Stage) {
        let mut armed = self.armed.lock().expect("nobody panics with it");
        let Some((_, signal)) = armed.take_if(|(at, _)| *at == stage) else { return };
        drop(armed);
        self.journal.note(&Event::Reached { stage: format!("{stage:?}") });
        kill_process(getpid(), signal).expect("a process may signal itself");
    }
}

pub fn signal_named(name: &str) -> Option<Signal> {
    Some(match name {
        "KILL" => Signal::KILL,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        _ => return None,
    })
}
