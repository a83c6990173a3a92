//! How a rule says what it found: a draft that cannot lack a place, a message or a remedy.

use crate::facts::{Location, Texts};
use crate::finding::{Confidence, Finding, Label, Severity};

use super::RuleInfo;
use super::edits::FixDraft;

/// Collects the findings of one rule.
pub struct Reporter<'a> {
    rule: &'static RuleInfo,
    texts: &'a dyn Texts,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(rule: &'static RuleInfo, texts: &'a dyn Texts, findings: &'a mut Vec<Finding>) -> Self {
        Self { rule, texts, findings }
    }

    pub fn add(&mut self, draft: Draft) {
        self.findings.push(Finding {
            rule: self.rule.name,
            severity: draft.severity.unwrap_or(self.rule.severity),
            confidence: draft.confidence,
            message: draft.message,
            primary: draft.primary,
            primary_label: draft.label,
            related: draft.related,
            lock: draft.lock,
            help: draft.help,
            fixes: draft.fixes.iter().filter_map(|fix| fix.written(self.texts)).collect(),
            counterexample: None,
        });
    }
}

/// A finding in the making.
#[derive(Debug, Clone)]
pub struct Draft {
    primary: Location,
    label: String,
    message: String,
    help: String,
    severity: Option<Severity>,
    confidence: Confidence,
    related: Vec<Label>,
    lock: Option<String>,
    fixes: Vec<FixDraft>,
}

impl Draft {
    /// `message` says what can happen; `label` what stands at `primary`; `help` what to do.
    pub fn new(
        primary: Location,
        label: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            primary,
            label: label.into(),
            message: message.into(),
            help: help.into(),
            severity: None,
            confidence: Confidence::High,
            related: Vec::new(),
            lock: None,
            fixes: Vec::new(),
        }
    }

    /// Adds what would mend it, where the text allows to say so.
    #[must_use]
    pub fn fix(mut self, fix: Option<FixDraft>) -> Self {
        self.fixes.extend(fix);
        self
    }

    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Departs from the rule's own level.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    #[must_use]
    pub fn related(mut self, location: Location, message: impl Into<String>) -> Self {
        self.related.push(Label { location, message: message.into() });
        self
    }

    /// Shows the command inside a helper, when the finding is at the helper's call.
    #[must_use]
    pub fn related_to_helper(self, place: Location, operation: &crate::locks::Operation) -> Self {
        if operation.inner == place {
            return self;
        }
        self.related(operation.inner, "the command is sent here")
    }

    #[must_use]
    pub fn lock(mut self, name: impl Into<String>) -> Self {
        self.lock = Some(name.into());
        self
    }
}
