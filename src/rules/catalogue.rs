//! The catalogue: every rule with its page, as `build.rs` found them.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Check;
use crate::finding::{Finding, Severity};
use crate::harm::Harm;
use crate::spelling::nearest_name;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The checklist item, or the kind of defect, that a rule belongs to.
pub type Group = String;

/// One rule: its name, what its page's front matter says of it, and its code.
#[derive(Debug)]
pub struct RuleInfo {
    /// Kebab-case; the names of its source file, page and fixture folder are made of it.
    pub name: &'static str,
    pub group: Group,
    /// The level of its findings unless a finding says otherwise.
    pub severity: Severity,
    /// One line: what it flags.
    pub summary: String,
    /// Rules that stay silent where this one speaks of the same place.
    pub outranks: Vec<String>,
    /// What the model must be able to reach for a finding, the worst first.
    pub harms: Vec<Harm>,
    /// The page's Markdown, without its front matter.
    pub page: &'static str,
    pub check: Check,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    group: String,
    level: Severity,
    summary: String,
    #[serde(default)]
    outranks: Vec<String>,
    #[serde(default)]
    harms: Vec<Harm>,
}

static RULES: LazyLock<Vec<RuleInfo>> =
    LazyLock::new(|| SOURCES.iter().map(|(name, page, check)| parse(name, page, *check)).collect());

/// All rules, sorted by name.
pub fn all() -> &'static [RuleInfo] {
    &RULES
}

pub fn find(name: &str) -> Option<&'static RuleInfo> {
    all().iter().find(|rule| rule.name == name)
}

/// A name that is neither a rule nor a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule or group `{name}`{}", .nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
pub struct UnknownRule {
    pub name: String,
    pub nearest: Option<&'static str>,
}

/// Accepts the names of rules and groups.
pub fn known_name(name: &str) -> Result<(), UnknownRule> {
    let is_known = all().iter().any(|rule| rule.name == name || rule.group == name);
    if is_known {
        return Ok(());
    }
    let names = all().iter().flat_map(|rule| [rule.name, rule.group.as_str()]);
    Err(UnknownRule { name: name.to_owned(), nearest: nearest_name(name, names) })
}

fn parse(name: &'static str, page: &'static str, check: Check) -> RuleInfo {
    let (front, body) = split_front_matter(page)
        .unwrap_or_else(|| panic!("rules/{name}.md must open with a front matter between +++ lines"));
    let front: FrontMatter =
        toml::from_str(front).unwrap_or_else(|error| panic!("the front matter of rules/{name}.md: {error}"));
    RuleInfo {
        name,
        group: front.group,
        severity: front.level,
        summary: front.summary,
        outranks: front.outranks,
        harms: front.harms,
        page: body,
        check,
    }
}

fn split_front_matter(page: &'static str) -> Option<(&'static str, &'static str)> {
    let rest = page.strip_prefix("+++\n")?;
    let end = rest.find("\n+++\n")?;
    Some((&rest[..end + 1], rest[end + 5..].trim_start()))
}

/// One defect, one finding: where a rule that outranks another speaks of the same place, the other is
/// silent.
pub(super) fn drop_outranked(findings: Vec<Finding>) -> Vec<Finding> {
    let mut silenced = HashSet::new();
    for finding in &findings {
        for lower in find(finding.rule).into_iter().flat_map(|rule| &rule.outranks) {
            silenced.insert((lower.clone(), finding.primary));
        }
    }
    findings.into_iter().filter(|f| !silenced.contains(&(f.rule.to_owned(), f.primary))).collect()
}
