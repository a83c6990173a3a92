//! Suppression comments: `leaselint: allow(rule, reason = "…")` in any of the languages.

use serde::{Deserialize, Serialize};

use super::{Location, Span};

/// One rule or group named by one comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// A rule or a group, as written.
    pub rule: String,
    pub reason: Option<String>,
    pub scope: SuppressionScope,
    /// The comment itself.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SuppressionScope {
    /// Every finding whose primary span starts inside this span: the line, or the item below the comment.
    Span(Span),
    File,
}

/// One rule or group named by a comment that the run judges, with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedSuppression {
    /// The comment.
    pub comment: Location,
    pub rule: String,
    pub has_reason: bool,
    /// It covered a finding.
    pub is_used: bool,
}

/// All suppression comments of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileSuppressions {
    pub suppressions: Vec<Suppression>,
    /// Comments that open like a suppression and cannot be read as one, with the reason.
    pub malformed: Vec<(Span, String)>,
}
