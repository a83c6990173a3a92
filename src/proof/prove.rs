//! The other way round: what the model says of a protocol that no finding is about.
//!
//! Each part of the protocol is run with the parts that it needs around it, and searched for all harms to others
//! at once. Nothing is assumed but an acquire where none is shown.

use super::explore::{Outcome, explore};
use super::protocol::{Part, Protocol, Role};
use super::scenario::{Scenario, whole_programs};
use crate::harm::Harm;

/// What a sound protocol never does, however its workers are paused, crash or are late.
pub const HARMS: [Harm; 7] = [
    Harm::ForeignRelease,
    Harm::ForeignRenewal,
    Harm::StaleWrite,
    Harm::TwoHolders,
    Harm::WorksUnheld,
    Harm::HeldForEver,
    Harm::KeptAfterWork,
];

/// What the searches of one protocol have come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    pub programs: usize,
    pub states: usize,
    /// The harms that were reached.
    pub reached: Vec<Harm>,
    /// A search was given up at its bound.
    pub is_cut: bool,
}

impl Proof {
    /// All runs within the bounds were looked at, and none does harm.
    pub fn holds(&self) -> bool {
        self.programs > 0 && self.reached.is_empty() && !self.is_cut
    }
}

/// Searches every program of a protocol.
pub fn prove(protocol: &Protocol) -> Proof {
    let mut proof = Proof::default();
    for part in protocol.parts() {
        for program in whole_programs(protocol, part) {
            let scenario = Scenario { protocol, program, repeats: false };
            proof.programs += 1;
            match explore(&scenario.system(), &harms_of(part)) {
                Outcome::Harmful(run) => {
                    proof.states += run.states;
                    if !proof.reached.contains(&run.harm) {
                        proof.reached.push(run.harm);
                    }
                }
                Outcome::Harmless(states) => proof.states += states,
                Outcome::Cut => proof.is_cut = true,
            }
        }
    }
    proof.reached.sort();
    proof
}

/// A write of its own, under no lock that is known, can harm the row alone.
fn harms_of(part: &Part) -> Vec<Harm> {
    match part.role {
        Role::Write => vec![Harm::StaleWrite],
        _ => HARMS.to_vec(),
    }
}
