//! Which findings are shown, and which of them fail the run.

use std::collections::BTreeSet;

use crate::finding::{Confidence, Finding, Severity};
use crate::rules;

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

/// A name that is neither a rule nor a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule or group `{name}`{}", .nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
pub struct UnknownRule {
    pub name: String,
    pub nearest: Option<&'static str>,
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
    /// `select` and `ignore` name rules and groups; without a `select`, all are selected. A rule's own
    /// name counts for more than its group's, and `ignore` for more than `select`.
    pub fn new(
        select: &[String],
        ignore: &[String],
        pedantic: bool,
        fail_on: FailOn,
    ) -> Result<Self, UnknownRule> {
        for name in select.iter().chain(ignore) {
            known_name(name)?;
        }
        let set = |names: &[String]| names.iter().cloned().collect();
        Ok(Self { select: set(select), ignore: set(ignore), pedantic, fail_on })
    }

    /// Whether the run reports this finding.
    pub fn shows(&self, finding: &Finding) -> bool {
        let group = rules::find(finding.rule).map_or("", |rule| rule.group.as_str());
        self.selects(finding.rule, group)
            && (finding.severity >= self.lowest_severity() || self.select.contains(finding.rule))
            && (finding.confidence >= Confidence::Medium || self.pedantic)
    }

    fn selects(&self, rule: &str, group: &str) -> bool {
        if self.ignore.contains(rule) {
            false
        } else if self.select.contains(rule) {
            true
        } else if self.ignore.contains(group) {
            false
        } else {
            self.select.is_empty() || self.select.contains(group)
        }
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

/// Accepts the names of rules and groups.
pub(crate) fn known_name(name: &str) -> Result<(), UnknownRule> {
    let is_known = rules::all().iter().any(|rule| rule.name == name || rule.group == name);
    if is_known {
        return Ok(());
    }
    let names = rules::all().iter().flat_map(|rule| [rule.name, rule.group.as_str()]);
    Err(UnknownRule { name: name.to_owned(), nearest: nearest_name(name, names) })
}

/// The name that a mistyped or shortened one most likely means.
pub(crate) fn nearest_name<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('_', "-");
    let is_part = |name: &str| typed.len() >= 4 && name.contains(&typed);
    names
        .map(|name| (strsim::damerau_levenshtein(&typed, name), name))
        .filter(|(distance, name)| distance * 3 <= name.len().max(3) || is_part(name))
        .min()
        .map(|(_, name)| name)
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
        }
    }

    fn selection(select: &[&str], ignore: &[&str]) -> Selection {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        Selection::new(&owned(select), &owned(ignore), false, FailOn::default()).unwrap()
    }

    #[test]
    fn the_more_specific_name_wins() {
        let warning = finding(Severity::Warning, Confidence::High);
        assert!(selection(&[], &[]).shows(&warning));
        assert!(selection(&["input"], &[]).shows(&warning));
        assert!(!selection(&["input"], &["unreadable-input"]).shows(&warning));
        assert!(selection(&["unreadable-input"], &["input"]).shows(&warning));
        assert!(!selection(&[], &["input"]).shows(&warning));
        assert!(!selection(&["unreadable-input"], &["unreadable-input"]).shows(&warning));
    }

    #[test]
    fn infos_and_guesses_are_shown_on_demand() {
        let pedantic = Selection { pedantic: true, ..Selection::default() };
        let info = finding(Severity::Info, Confidence::High);
        let guess = finding(Severity::Error, Confidence::Low);
        assert!(!Selection::default().shows(&info) && !Selection::default().shows(&guess));
        assert!(pedantic.shows(&info) && pedantic.shows(&guess));
        assert!(selection(&["unreadable-input"], &[]).shows(&info), "a rule that is named is wanted");
        assert!(Selection { fail_on: FailOn::Info, ..Selection::default() }.shows(&info));
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
        assert_eq!(
            nearest_name("unreadable", ["unreadable-input", "fence"].into_iter()),
            Some("unreadable-input")
        );
        let error = Selection::new(&[], &["zzz".to_owned()], false, FailOn::default()).unwrap_err();
        assert_eq!(error.to_string(), "there is no rule or group `zzz`");
    }
}
