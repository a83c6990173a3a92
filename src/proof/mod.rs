//! The proof: can what a finding says really happen?
//!
//! The protocol of each lock is written down as data ([`extract`]), put together into a program that two workers
//! run ([`scenario`]), and searched for the harm ([`explore`]). A run that ends in it goes to the finding, in
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

use protocol::Protocol;
use scenario::{Scenario, scenarios};

/// Gives each finding about a protocol the shortest run that does its harm.
pub fn attach(inventory: &Inventory, findings: &mut [Finding]) {
    let wanted = |finding: &Finding| rules::find(finding.rule).is_some_and(|rule| !rule.harms.is_empty());
    if !findings.iter().any(wanted) {
        return;
    }
    let protocols = extract::protocols(inventory);
    for finding in findings {
        let Some(rule) = rules::find(finding.rule) else { continue };
        finding.counterexample = rule.harms.iter().find_map(|harm| {
            let found = scenarios(&protocols, finding, *harm).into_iter();
            found.filter_map(|scenario| scenario.shown(*harm, finding.primary)).next()
        });
    }
}

impl Scenario<'_> {
    /// The shortest run of it that ends in the harm, in words.
    fn shown(
        &self,
        harm: crate::harm::Harm,
        nearest: crate::facts::Location,
    ) -> Option<crate::finding::Counterexample> {
        match explore::explore(&self.system(), &[harm]) {
            explore::Outcome::Harmful(run) => Some(narrate::told(self, &run, nearest)),
            explore::Outcome::Harmless(_) | explore::Outcome::Cut => None,
        }
    }
}

/// All protocols of the workspace, for those who list them.
pub fn protocols(inventory: &Inventory) -> Vec<Protocol> {
    extract::protocols(inventory)
}
