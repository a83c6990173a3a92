//! A token column that starts with no value, or with one that the first holders cannot exceed.

use crate::facts::sql::Dialect;
use crate::finding::Confidence;
use crate::locks::fences::{FenceColumn, fence_columns};
use crate::locks::naming::TokenTier;
use crate::locks::{Conventions, Inventory};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for fence in fence_columns(inventory) {
        let column = fence.column;
        let Some(at) = column.declared else { continue };
        let is_token = match fence.tier {
            TokenTier::Fence => fence.is_plain() || fence.usage.compared().is_some(),
            TokenTier::Lease => fence.usage.compared().is_some() || fence.usage.raised.is_some(),
            TokenTier::Version | TokenTier::Ambiguous | TokenTier::Usage => {
                fence.usage.compared().is_some() && fence.usage.table_is_written
            }
        };
        if !is_token {
            continue;
        }
        if let Some((label, message, confidence)) =
            bare(&fence).or_else(|| too_high(&fence, &inventory.conventions))
        {
            let help = format!(
                "give `{}` a default below every token that can be issued: `NOT NULL DEFAULT 0`",
                column.name
            );
            report.add(
                Draft::new(at, label, message, help)
                    .confidence(confidence)
                    .lock(fence.table.name.name.clone()),
            );
        }
    }
}

type Defect = (String, String, Confidence);

/// Added to rows that have no value for it. MySQL gives them 0.
fn bare(fence: &FenceColumn<'_>) -> Option<Defect> {
    let name = &fence.column.name;
    let table = &fence.table.name.name;
    (fence.column.added_bare && fence.dialect != Dialect::MySql).then(|| {
        (
            "NOT NULL, and no default".to_owned(),
            format!(
                "`{name}` is added to `{table}` without a value for the rows that are there, so that the migration fails on every table but an empty one"
            ),
            if fence.tier <= TokenTier::Lease { Confidence::High } else { Confidence::Medium },
        )
    })
}

/// A new row refuses holders whose token is not above the default.
fn too_high(fence: &FenceColumn<'_>, conventions: &Conventions) -> Option<Defect> {
    let draws_its_own = conventions.is_lock_table(&fence.table.name.name) || !fence.is_carried();
    if draws_its_own || fence.tier > TokenTier::Lease || !fence.usage.is_ordered() {
        return None;
    }
    let name = &fence.column.name;
    let table = &fence.table.name.name;
    if fence.column.counts_up {
        let message = format!(
            "the database numbers `{name}` of `{table}` by itself, so that a new row can refuse holders whose tokens are lower than its number"
        );
        return Some(("drawn by the table itself".to_owned(), message, Confidence::High));
    }
    let default = fence.column.default.as_deref()?;
    let confidence = match start(default)? {
        Start::Number(number) if number > 1 => Confidence::High,
        // The first token of a counter is 1, and 1 is not less than 1.
        Start::Number(1) if fence.usage.strict => Confidence::Medium,
        Start::Number(_) => return None,
        Start::Drawn => Confidence::High,
    };
    let message = format!(
        "`{name}` of a new row of `{table}` starts at `{default}`, which is not below every token that is issued: the row refuses the holders of lower ones"
    );
    Some((format!("starts at `{default}`"), message, confidence))
}

enum Start {
    Number(i128),
    /// From a sequence, a clock or a random number.
    Drawn,
}

/// `None` for a default that we do not understand.
fn start(default: &str) -> Option<Start> {
    let plain = default.trim().trim_matches(['(', ')', '\'', ' ']);
    let plain = plain.split("::").next().unwrap_or(plain).trim_matches(['\'', ' ']);
    if let Ok(number) = plain.parse() {
        return Some(Start::Number(number));
    }
    let lower = default.to_ascii_lowercase();
    let drawn = ["nextval(", "now(", "clock_timestamp(", "current_timestamp", "random(", "unix_timestamp("];
    (drawn.iter().any(|call| lower.contains(call)) || lower.starts_with("extract(")).then_some(Start::Drawn)
}
