//! Which of several servers is asked next. One that does not answer is left for the next one, once, however many
//! requests find out at the same time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{BootClock, Clock, Moment};

/// A request that has waited so long may stand for a server that does not answer. Far above a round trip, and
/// below what any request has until it counts as failed.
const SILENT: Duration = Duration::from_millis(100);

pub(super) struct Turn {
    servers: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: usize,
    /// The server of each request that has no answer, and when it was sent.
    underway: HashMap<u64, (usize, Moment)>,
    last_number: u64,
}

/// A request that has no answer yet. Dropping it without one leaves its server.
pub(super) struct Underway<'a> {
    turn: &'a Turn,
    number: u64,
    server: usize,
    answered: bool,
}

impl Turn {
    pub(super) fn among(servers: usize) -> Self {
        Self { servers, state: Mutex::default() }
    }

    /// A request is about to be sent.
    pub(super) fn begin(&self) -> Underway<'_> {
        self.begin_at(BootClock.now())
    }

    fn begin_at(&self, now: Moment) -> Underway<'_> {
        let mut state = self.state();
        state.last_number += 1;
        let (number, server) = (state.last_number, state.current);
        state.underway.insert(number, (server, now));
        Underway { turn: self, number, server, answered: false }
    }

    /// The server whose turn it is.
    #[cfg(feature = "consul")]
    pub(super) fn present(&self) -> usize {
        self.state().current
    }

    /// The server is of no use at the moment. Says nothing about another one that is asked by now.
    pub(super) fn leave(&self, server: usize) {
        let mut state = self.state();
        if state.current == server {
            state.current = (server + 1) % self.servers.max(1);
        }
    }

    /// Leaves the present server if one of its requests has waited long.
    pub(super) fn leave_if_silent(&self) {
        self.leave_if_silent_at(BootClock.now());
    }

    fn leave_if_silent_at(&self, now: Moment) {
        let state = self.state();
        let current = state.current;
        let silent =
            state.underway.values().any(|(server, sent)| *server == current && now.since(*sent) >= SILENT);
        drop(state);
        if silent {
            self.leave(current);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No step can panic half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Underway<'_> {
    pub(super) fn server(&self) -> usize {
        self.server
    }

    /// The server has answered, whatever it said; gives which one it was.
    pub(super) fn answered(mut self) -> usize {
        self.answered = true;
        self.server
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.turn.state().underway.remove(&self.number);
        if !self.answered {
            self.turn.leave(self.server);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Moment {
        Moment::from_nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn many_failures_leave_a_server_once() {
        let turn = Turn::among(3);
        let requests: Vec<_> = (0..1000).map(|_| turn.begin_at(at(0))).collect();
        drop(requests);
        assert_eq!(turn.begin_at(at(1)).answered(), 1);
        turn.leave(0);
        assert_eq!(turn.begin_at(at(2)).answered(), 1);
        turn.leave(1);
        turn.leave(2);
        assert_eq!(turn.begin_at(at(3)).answered(), 0);
    }

    #[test]
    fn only_silence_leaves_a_server() {
        let turn = Turn::among(2);
        let first = turn.begin_at(at(0));
        turn.leave_if_silent_at(at(50));
        assert_eq!(turn.begin_at(at(50)).answered(), 0);
        turn.leave_if_silent_at(at(150));
        assert_eq!(turn.begin_at(at(150)).answered(), 1);
        // The old request still waits, and says nothing about the new server.
        turn.leave_if_silent_at(at(200));
        assert_eq!(turn.begin_at(at(200)).answered(), 1);
        drop(first);
        assert_eq!(turn.begin_at(at(250)).answered(), 1);
    }
}
