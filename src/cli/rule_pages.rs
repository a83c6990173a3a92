//! The commands about rules: `explain` and `rules`.

use super::{COULD_NOT, print, stream};
use crate::finding::Severity;
use crate::rules::{self, RuleInfo};
use crate::spelling::nearest_name;

/// Prints a rule's page.
pub(super) fn explain(name: &str) -> u8 {
    let Some(rule) = rules::find(name) else {
        let names = rules::all().iter().map(|rule| rule.name);
        let hint = match nearest_name(name, names) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`leaselint rules` lists them".to_owned(),
        };
        stream::tell("error", &format!("there is no rule `{name}`; {hint}"));
        return COULD_NOT;
    };
    let head = format!("group: {}, level: {}\n{}\n", rule.group, level(rule), capitalised(&rule.summary));
    let page = match rule.page.split_once('\n') {
        Some((title, rest)) => format!("{title}\n\n{head}\n{}\n", rest.trim()),
        None => format!("{}\n\n{head}", rule.page),
    };
    print(&format!("{}\n", page.trim_end()))
}

/// Prints the list of rules.
pub(super) fn list() -> u8 {
    let width = |of: fn(&RuleInfo) -> &str| rules::all().iter().map(|rule| of(rule).len()).max().unwrap_or(0);
    let (names, groups) = (width(|rule| rule.name), width(|rule| &rule.group));
    let mut sorted: Vec<&RuleInfo> = rules::all().iter().collect();
    sorted.sort_by_key(|rule| (&rule.group, rule.name));
    let lines: Vec<String> = sorted
        .iter()
        .map(|rule| {
            format!("{:groups$}  {:names$}  {:7}  {}\n", rule.group, rule.name, level(rule), rule.summary)
        })
        .collect();
    print(&lines.concat())
}

fn level(rule: &RuleInfo) -> &'static str {
    match rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn capitalised(summary: &str) -> String {
    let mut characters = summary.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
