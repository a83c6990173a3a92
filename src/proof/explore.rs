//! The search: breadth first through the states of a system, so that the first run that does harm is a
//! shortest one.
//!
//! The order in which a system lists its transitions is fixed, and so is the run that is found.

use std::collections::HashSet;

use super::system::{Event, State, System};
use crate::harm::Harm;

/// No lock of the fixtures, cases and published crates comes near it; memory stays below some 20 MB.
pub const MOST_STATES: usize = 200_000;

/// What a search has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Harmful(Run),
    /// All states within the bounds were looked at, so many, and none does harm.
    Harmless(usize),
    /// There were more than [`MOST_STATES`].
    Cut,
}

/// A shortest run to a harm: each event with the state behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub harm: Harm,
    pub start: State,
    pub moments: Vec<(Event, State)>,
    /// States that were looked at before it was found.
    pub states: usize,
}

struct Node {
    state: State,
    /// The node before it, and what led from there to here.
    from: Option<(usize, Event)>,
}

/// Looks for the nearest of these harms.
pub fn explore(system: &System<'_>, harms: &[Harm]) -> Outcome {
    let start = system.start();
    let mut seen: HashSet<State> = HashSet::from([start.clone()]);
    let mut nodes = vec![Node { state: start, from: None }];
    let mut at = 0;
    while at < nodes.len() {
        for transition in system.transitions(&nodes[at].state) {
            if let Some(harm) = transition.harms.iter().find(|harm| harms.contains(harm)) {
                let last = (transition.event, transition.state);
                return Outcome::Harmful(run_to(&nodes, at, last, *harm));
            }
            if seen.insert(transition.state.clone()) {
                nodes.push(Node { state: transition.state, from: Some((at, transition.event)) });
            }
        }
        if nodes.len() > MOST_STATES {
            return Outcome::Cut;
        }
        at += 1;
    }
    Outcome::Harmless(nodes.len())
}

fn run_to(nodes: &[Node], mut at: usize, last: (Event, State), harm: Harm) -> Run {
    let mut moments = vec![last];
    while let Some((before, event)) = nodes[at].from {
        moments.push((event, nodes[at].state.clone()));
        at = before;
    }
    moments.reverse();
    Run { harm, start: nodes[at].state.clone(), moments, states: nodes.len() }
}
