//! Which findings are shown, and which of them fail the run.

use std::collections::BTreeSet;

use crate::configuration::Policy;
use crate::finding::{Confidence, Finding, Severity};
use crate::rules::{self, UnknownRule};

/// The level from which on findings fail the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailOn {
    Error,
    #[default]
    Warning,
    Info,
    Never,
}

impl FailOn {
    /// Whether a finding of this severity fails the run.
    pub fn is_reached_by(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity >= Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Info => severity >= Severity::Info,
            Self::Never => false,
        }
    }
}

/// What is shown. The default is what a project should act on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    select: BTreeSet<String>,
    ignore: BTreeSet<String>,
    pedantic: bool,
    fail_on: FailOn,
}

impl Selection {
    /// `select` and `ignore` name rules and groups, and take the place of what a project's configuration
    /// selects and ignores; without a `select`, all are selected. A rule's own name counts for more than its
    /// group's, and `ignore` for more than `select`.
    pub fn new(
        select: &[String],
        ignore: &[String],
        pedantic: bool,
        fail_on: FailOn,
    ) -> Result<Self, UnknownRule> {
        for name in select.iter().chain(ignore) {
            rules::known_name(name)?;
        }
        let set = |names: &[String]| names.iter().cloned().collect();
        Ok(Self { select: set(select), ignore: set(ignore), pedantic, fail_on })
    }

    /// Whether the run reports this finding, in a file for which the project wants this.
    pub fn shows(&self, finding: &Finding, policy: &Policy) -> bool {
        let group = rules::find(finding.rule).map_or("", |rule| rule.group.as_str());
        let own = |own: &'_ BTreeSet<String>, projects| if own.is_empty() { projects } else { own.clone() };
        let select = own(&self.select, policy.select.clone());
        let ignore = own(&self.ignore, policy.ignore.clone());
        // A level that was given on purpose is wanted.
        let named = select.contains(finding.rule);
        selects(&select, &ignore, finding.rule, group)
            && !policy.ignores_here(finding.rule, group)
            && (finding.severity >= self.lowest_severity() || named)
            && (finding.confidence >= Confidence::Medium || self.pedantic)
    }

    /// Who fails on infos wants to see them.
    fn lowest_severity(&self) -> Severity {
        if self.pedantic || self.fail_on == FailOn::Info { Severity::Info } else { Severity::Warning }
    }

    /// Whether any of the findings fails the run.
    pub fn fails(&self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| self.fail_on.is_reached_by(finding.severity))
    }
}

fn selects(select: &BTreeSet<String>, ignore: &BTreeSet<String>, rule: &str, group: &str) -> bool {
    if ignore.contains(rule) {
        false
    } else if select.contains(rule) {
        true
    } else if ignore.contains(group) {
        false
    } else {
        select.is_empty() || select.contains(group)
    }
}

/// Gives a finding the level that the project wants; `false` when it wants none of it.
pub(super) fn apply_level(finding: &mut Finding, policy: &Policy) -> bool {
    let group = rules::find(finding.rule).map_or("", |rule| rule.group.as_str());
    let Some(level) = policy.level(finding.rule, group) else { return true };
    finding.severity = level.severity().unwrap_or(finding.severity);
    level.severity().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{FileId, Location, Span};

    fn finding(severity: Severity, confidence: Confidence) -> Finding {
        Finding {
            rule: "unreadable-input",
            severity,
            confidence,
            message: String::new(),
            primary: Location { file: FileId(0), span: Span::default() },
            primary_label: String::new(),
            related: Vec::new(),
            lock: None,
            help: String::new(),
            fixes: Vec::new(),
            counterexample: None,
        }
    }

    fn selection(select: &[&str], ignore: &[&str]) -> Selection {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        Selection::new(&owned(select), &owned(ignore), false, FailOn::default()).unwrap()
    }

    #[test]
    fn the_more_specific_name_wins() {
        let warning = finding(Severity::Warning, Confidence::High);
        assert!(selection(&[], &[]).shows(&warning, &Policy::default()));
        assert!(selection(&["input"], &[]).shows(&warning, &Policy::default()));
        assert!(!selection(&["input"], &["unreadable-input"]).shows(&warning, &Policy::default()));
        assert!(selection(&["unreadable-input"], &["input"]).shows(&warning, &Policy::default()));
        assert!(!selection(&[], &["input"]).shows(&warning, &Policy::default()));
        assert!(!selection(&["unreadable-input"], &["unreadable-input"]).shows(&warning, &Policy::default()));
    }

    #[test]
    fn infos_and_guesses_are_shown_on_demand() {
        let pedantic = Selection { pedantic: true, ..Selection::default() };
        let info = finding(Severity::Info, Confidence::High);
        let guess = finding(Severity::Error, Confidence::Low);
        assert!(
            !Selection::default().shows(&info, &Policy::default())
                && !Selection::default().shows(&guess, &Policy::default())
        );
        assert!(pedantic.shows(&info, &Policy::default()) && pedantic.shows(&guess, &Policy::default()));
        assert!(
            selection(&["unreadable-input"], &[]).shows(&info, &Policy::default()),
            "a rule that is named is wanted"
        );
        assert!(Selection { fail_on: FailOn::Info, ..Selection::default() }.shows(&info, &Policy::default()));
    }

    #[test]
    fn the_run_fails_from_the_level_on() {
        let fails = |fail_on, severity| {
            Selection { fail_on, ..Selection::default() }.fails(&[finding(severity, Confidence::High)])
        };
        assert!(fails(FailOn::Warning, Severity::Error) && fails(FailOn::Warning, Severity::Warning));
        assert!(!fails(FailOn::Warning, Severity::Info) && fails(FailOn::Info, Severity::Info));
        assert!(!fails(FailOn::Error, Severity::Warning) && !fails(FailOn::Never, Severity::Error));
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let error =
            Selection::new(&["unredable_input".to_owned()], &[], false, FailOn::default()).unwrap_err();
        assert_eq!(error.nearest, Some("unreadable-input"));
        assert!(error.to_string().contains("did you mean `unreadable-input`?"));
        let error = Selection::new(&[], &["zzz".to_owned()], false, FailOn::default()).unwrap_err();
        assert_eq!(error.to_string(), "there is no rule or group `zzz`");
    }
}
