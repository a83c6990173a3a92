//! A comment that suppresses nothing: it hides what may come, and says of the code what is not true.

use std::collections::BTreeMap;

use crate::facts::Location;
use crate::facts::suppression::JudgedSuppression;
use crate::locks::Inventory;
use crate::rules::{Draft, Reporter, known_name};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    let mut comments: BTreeMap<Location, Vec<&JudgedSuppression>> = BTreeMap::new();
    for suppression in &inventory.suppressions {
        comments.entry(suppression.comment).or_default().push(suppression);
    }
    for (comment, named) in comments {
        let unused: Vec<&str> =
            named.iter().filter(|one| !one.is_used).map(|one| one.rule.as_str()).collect();
        if unused.is_empty() {
            continue;
        }
        let is_whole = unused.len() == named.len();
        report.add(draft(comment, &unused, is_whole));
    }
}

fn draft(comment: Location, unused: &[&str], is_whole: bool) -> Draft {
    if let Some(unknown) = unused.iter().find_map(|name| known_name(name).err()) {
        let message = format!("this suppression has no effect: {unknown}");
        return Draft::new(comment, "names no rule", message, "`leaselint rules` lists the names");
    }
    let names = unused.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let message = format!("there is no finding of {names} for this suppression to cover");
    let help =
        if is_whole { "remove the comment".to_owned() } else { format!("take {names} out of the comment") };
    Draft::new(comment, "covers no finding", message, help)
}
