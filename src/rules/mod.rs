//! The rules: one source file each under this folder, one page each under `rules/`.
//!
//! `build.rs` finds them by file name, so that a new rule needs no line here. A rule reads the
//! inventory and adds findings; it knows no parser, no other rule, no suppression and no report.

mod catalogue;
mod draft;
mod edits;

pub use catalogue::{Group, RuleInfo, UnknownRule, all, find, known_name};
pub use draft::{Draft, Reporter};

use crate::facts::Texts;
use crate::finding::Finding;
use crate::locks::Inventory;

/// What a rule's source file offers as `check`.
pub type Check = fn(&Inventory, &mut Reporter<'_>);

/// Runs one rule.
pub fn run_one(name: &str, inventory: &Inventory, texts: &dyn Texts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(rule) = find(name) {
        (rule.check)(inventory, &mut Reporter::new(rule, texts, &mut findings));
    }
    findings
}

/// Runs every rule; the findings come in no particular order.
pub fn run(inventory: &Inventory, texts: &dyn Texts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in all() {
        (rule.check)(inventory, &mut Reporter::new(rule, texts, &mut findings));
    }
    // The same operation can be seen from several callers.
    let mut seen = std::collections::BTreeSet::new();
    findings.retain(|finding| seen.insert((finding.rule, finding.primary)));
    catalogue::drop_outranked(findings)
}
