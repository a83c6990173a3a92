//! Suppression comments: `leaselint: allow(rule, reason = "…")` in any of the languages.

use serde::{Deserialize, Serialize};

use super::Span;

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
