//! What reviewdog and GitLab ask of a report, in our words after their documentation: a parse fails where a
//! field is missing, unknown or of another type. Nothing here was published by them.

#![allow(dead_code, reason = "a field is there to be parsed")]

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewdogReport {
    pub source: Named,
    pub diagnostics: Vec<ReviewdogDiagnostic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewdogDiagnostic {
    pub message: String,
    pub location: Ranged,
    pub severity: ReviewdogSeverity,
    pub source: Option<Named>,
    pub code: Code,
    #[serde(default)]
    pub related_locations: Vec<Related>,
}

#[derive(Deserialize, PartialEq, Eq, Debug)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReviewdogSeverity {
    Error,
    Warning,
    Info,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    pub name: String,
    pub url: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    pub value: String,
    pub url: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Related {
    pub message: String,
    pub location: Ranged,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranged {
    pub path: String,
    pub range: Range,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

/// Lines and columns count from 1.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
pub struct Position {
    pub line: std::num::NonZeroU32,
    pub column: std::num::NonZeroU32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitlabIssue {
    pub check_name: String,
    pub description: String,
    pub fingerprint: String,
    pub severity: GitlabSeverity,
    pub location: GitlabLocation,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GitlabSeverity {
    Info,
    Minor,
    Major,
    Critical,
    Blocker,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitlabLocation {
    pub path: String,
    pub positions: GitlabPositions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitlabPositions {
    pub begin: Position,
    pub end: Position,
}
