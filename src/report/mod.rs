//! Reports: findings for people and for programs.
//!
//! Each format is one file and a pure function of findings, figures and source text. Reports analyse
//! nothing, read no file and no setting of the environment.

pub mod audit;
pub mod checkstyle;
pub mod fingerprint;
pub mod github;
pub mod gitlab;
pub mod human;
pub mod json;
pub mod junit;
mod places;
pub mod rdjson;
pub mod rustc;
pub mod sanitize;
pub mod sarif;
mod timeline;
mod written;

#[cfg(test)]
mod sample;

use std::sync::Arc;

use crate::facts::FileId;

/// What a report needs to know of the files.
pub trait SourceView {
    /// With `/`, relative to the working directory where it is below it.
    fn path(&self, file: FileId) -> &str;
    /// `None` for a file that could not be read as text.
    fn text(&self, file: FileId) -> Option<Arc<str>>;
}

/// Where a rule's page is found, followed by its name.
const RULE_PAGES: &str = "https://leaselint.dev/rules/";

/// The address of a rule's page.
pub fn rule_url(rule: &str) -> String {
    format!("{RULE_PAGES}{rule}")
}

/// Where the tool is described.
const HOME: &str = "https://leaselint.dev";
