//! The recorded findings (`findings.toml`) and their comparison with what a run reports. It neither runs
//! the tool nor judges a finding: the verdicts were written by someone who read the source.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::tool::{Finding, Related};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "finding")]
    findings: Vec<Recorded>,
}

/// One entry of `findings.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    #[serde(rename = "crate")]
    pub(crate) package: String,
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    pub(crate) why: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    True,
    False,
}

/// What makes two findings the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) package: String,
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{} {}", self.package, self.path, self.line, self.rule)
    }
}

impl Recorded {
    pub(crate) fn place(&self) -> Place {
        Place {
            package: self.package.clone(),
            path: self.path.clone(),
            line: self.line,
            rule: self.rule.clone(),
        }
    }

    /// A verdict without a sentence has not been read by anyone.
    pub(crate) fn is_explained(&self) -> bool {
        self.why.split_whitespace().count() >= 4
    }
}

/// The place of a finding that the tool reported for `package`.
pub(crate) fn place(package: &str, finding: &Finding) -> Place {
    Place {
        package: package.to_owned(),
        path: finding.path.trim_start_matches("./").to_owned(),
        line: finding.line(),
        rule: finding.rule.clone(),
    }
}

/// The other places that a finding points at.
pub(crate) fn places_beside(package: &str, finding: &Finding) -> Vec<Place> {
    let beside = |related: &Related| Place {
        package: package.to_owned(),
        path: related.path.trim_start_matches("./").to_owned(),
        line: related.span.start.line,
        rule: finding.rule.clone(),
    };
    finding.related.iter().map(beside).collect()
}

pub(crate) fn parse(text: &str) -> Result<Vec<Recorded>, toml::de::Error> {
    Ok(toml::from_str::<File>(text)?.findings)
}

/// Where a run and the record differ.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Difference {
    /// Reported, not recorded.
    pub(crate) new: Vec<Place>,
    /// Recorded, not reported.
    pub(crate) gone: Vec<Place>,
}

impl Difference {
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

/// Compares as multisets: two findings of one rule on one line are two findings.
pub(crate) fn compare(recorded: &[Place], reported: &[Place]) -> Difference {
    let mut balance: BTreeMap<&Place, isize> = BTreeMap::new();
    for place in recorded {
        *balance.entry(place).or_default() -= 1;
    }
    for place in reported {
        *balance.entry(place).or_default() += 1;
    }
    let mut difference = Difference::default();
    for (place, count) in balance {
        let side = if count > 0 { &mut difference.new } else { &mut difference.gone };
        side.extend(std::iter::repeat_n(place.clone(), count.unsigned_abs()));
    }
    difference
}
