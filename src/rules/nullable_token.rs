//! A token column that may be NULL: the comparison that should refuse stale writers is unknown there.

use crate::facts::Location;
use crate::finding::{Confidence, Severity};
use crate::locks::Inventory;
use crate::locks::fences::{FenceColumn, fence_columns, weakness};
use crate::locks::naming::{TokenTier, is_integer_type};
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for fence in fence_columns(inventory) {
        let column = fence.column;
        if column.not_null || column.counts_up || !is_known_type(&fence) {
            continue;
        }
        let (Some(at), Some(harm)) = (column.nullable_at.or(column.declared), harm(&fence)) else { continue };
        report.add(finding(&fence, at, &harm));
    }
}

struct Harm {
    message: String,
    seen: Option<(Location, &'static str)>,
    severity: Severity,
    confidence: Confidence,
}

/// What a NULL does to the statements that use the column; `None` when it does nothing.
fn harm(fence: &FenceColumn<'_>) -> Option<Harm> {
    let name = &fence.column.name;
    let table = &fence.table.name.name;
    let usage = &fence.usage;
    let is_token = fence.tier <= TokenTier::Lease;
    // Nobody leaves NULL in a column that has a default, or that every INSERT fills.
    let has_default = fence.column.default.as_ref().is_some_and(|d| !d.eq_ignore_ascii_case("null"));
    let confidence = if has_default { Confidence::Medium } else { Confidence::High };
    let severity = if has_default { Severity::Warning } else { Severity::Error };
    if let Some(at) = usage.ordered.filter(|_| is_token || may_be_left_null(fence)) {
        return Some(Harm {
            message: format!(
                "`{name}` of `{table}` may be NULL, and a comparison with NULL is never true: the row refuses every write"
            ),
            seen: Some((at, "unknown while the column is NULL")),
            severity,
            confidence,
        });
    }
    if usage.by_trigger {
        return Some(Harm {
            message: format!(
                "`{name}` of `{table}` may be NULL, and the trigger that compares it lets every write pass while it is"
            ),
            seen: None,
            severity,
            confidence,
        });
    }
    if let Some(at) = usage.raised.filter(|_| !has_default && (is_token || may_be_left_null(fence))) {
        return Some(Harm {
            message: format!(
                "`{name}` of `{table}` may be NULL, and NULL plus one is NULL: the row never gets a token"
            ),
            seen: Some((at, "stays NULL")),
            severity,
            confidence,
        });
    }
    // A COALESCE, or `IS NULL OR`, says that NULL was thought of; the column still says nothing else.
    if let Some(at) = usage.ordered_but_null.filter(|_| is_token && !has_default) {
        return Some(Harm {
            message: format!(
                "`{name}` of `{table}` may be NULL, so its statements must let every writer pass while it is"
            ),
            seen: Some((at, "NULL passes here")),
            severity: Severity::Warning,
            confidence: Confidence::Medium,
        });
    }
    let unused = fence.is_plain() && !usage.table_is_written && !has_default;
    unused.then(|| Harm {
        message: format!(
            "`{name}` of `{table}` may be NULL, and no comparison with NULL is ever true: a fenced write cannot change the row"
        ),
        seen: None,
        severity: Severity::Error,
        confidence: Confidence::Medium,
    })
}

/// Rows from before the column was added, or inserted without it.
fn may_be_left_null(fence: &FenceColumn<'_>) -> bool {
    let column = fence.column;
    column.default.is_none() && (column.added_at.is_some() || fence.usage.left_out)
}

/// A type of the user's own may refuse NULL by itself.
fn is_known_type(fence: &FenceColumn<'_>) -> bool {
    is_integer_type(&fence.column.data_type)
        || weakness(&fence.column.data_type, fence.dialect, fence.wide_integers).is_some()
}

fn finding(fence: &FenceColumn<'_>, at: Location, harm: &Harm) -> Draft {
    let name = &fence.column.name;
    let help = format!(
        "fill the rows that are there with a value below every token, then declare `{name}` as NOT NULL DEFAULT 0"
    );
    let mut draft = Draft::new(at, "may be NULL", &harm.message, help)
        .severity(harm.severity)
        .confidence(harm.confidence)
        .lock(fence.table.name.name.clone());
    if let Some((seen, what)) = harm.seen {
        draft = draft.related(seen, what);
    }
    match fence.column.declared {
        Some(declared) if declared != at => draft.related(declared, format!("`{name}` is declared here")),
        _ => draft,
    }
}
