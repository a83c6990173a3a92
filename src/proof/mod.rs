//! The proof: can what a finding says really happen?
//!
//! The protocol of each lock is written down as data ([`extract`]), put together into a program that two workers
//! run ([`scenario`]), and searched for the harm ([`mod@explore`]). A run that ends in it goes to the finding, in
//! words ([`narrate`]). Nothing here knows a rule by name: which harms a rule's findings must lead to stands on
//! the rule's page.

pub mod effects;
pub mod explore;
pub mod extract;
pub mod narrate;
pub mod protocol;
pub mod prove;
pub mod scenario;
pub mod system;

use crate::finding::Finding;
use crate::locks::Inventory;
use crate::rules;

use explore::{Outcome, Run, explore};
use protocol::Protocol;
use scenario::{Scenario, scenarios};

/// Gives each finding about a protocol the shortest run that does its harm.
pub fn attach(inventory: &Inventory, findings: &mut [Finding]) {
    if !findings.iter().any(is_about_a_protocol) {
        return;
    }
    let protocols = extract::protocols(inventory);
    for finding in findings {
        let found = shortest(&protocols, finding);
        finding.counterexample = found.map(|(scenario, run)| narrate::told(&scenario, &run, finding.primary));
    }
}

/// Whether a finding has to lead to a harm in the model.
pub fn is_about_a_protocol(finding: &Finding) -> bool {
    rules::find(finding.rule).is_some_and(|rule| !rule.harms.is_empty())
}

/// The shortest run that does the worst harm of a finding, and the program that it is a run of.
pub fn shortest<'p>(protocols: &'p [Protocol], finding: &Finding) -> Option<(Scenario<'p>, Run)> {
    let harms = &rules::find(finding.rule)?.harms;
    harms.iter().find_map(|harm| {
        scenarios(protocols, finding, *harm).into_iter().find_map(|scenario| {
            match explore(&scenario.system(), &[*harm]) {
                Outcome::Harmful(run) => Some((scenario, run)),
                Outcome::Harmless(_) | Outcome::Cut => None,
            }
        })
    })
}

/// All protocols of the workspace, for those who list them.
pub fn protocols(inventory: &Inventory) -> Vec<Protocol> {
    extract::protocols(inventory)
}
