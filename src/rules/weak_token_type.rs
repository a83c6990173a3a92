//! A token column whose type runs out of numbers, or does not keep their order.

use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::locks::fences::{FenceColumn, Weakness, fence_columns, weakness};
use crate::locks::naming::TokenTier;
use crate::locks::tables::TokenKind;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for fence in fence_columns(inventory) {
        let column = fence.column;
        let Some(weak) = weakness(&column.data_type, fence.dialect, fence.wide_integers) else { continue };
        let (Some(at), Some(confidence)) = (column.typed_at.or(column.declared), confidence(&fence, weak))
        else {
            continue;
        };
        let message = message(&fence, weak);
        let help = format!(
            "give `{}` an integer type of 64 bits, such as {}",
            column.name,
            if weak == Weakness::Time { "BIGINT, and draw the token from a counter" } else { "BIGINT" },
        );
        let mut draft = Draft::new(at, format!("declared as `{}`", column.data_type), message, help)
            .confidence(confidence)
            .lock(fence.table.name.name.clone());
        if let Some(seen) = fence.usage.compared() {
            draft = draft.related(seen, "compared as a token here");
        }
        report.add(draft);
    }
}

/// `None` where the column is no token whose order or number counts.
fn confidence(fence: &FenceColumn<'_>, weak: Weakness) -> Option<Confidence> {
    let usage = &fence.usage;
    let ordered = usage.is_ordered();
    let unused = fence.is_plain() && !usage.table_is_written;
    if fence.tier > TokenTier::Lease {
        // A version that is only compared for equality may wrap as it likes.
        let proved = ordered && fence.kind == TokenKind::Ordered && weak == Weakness::Narrow;
        return proved.then_some(Confidence::Medium);
    }
    match weak {
        Weakness::Narrow | Weakness::Float => {
            let counts = ordered || usage.raised.is_some() || (fence.is_plain() && usage.equal.is_some());
            match (counts, unused) {
                (true, _) => Some(Confidence::High),
                (_, true) => Some(Confidence::Medium),
                _ => None,
            }
        }
        // Text and time that are compared for equality name a holder, which they can.
        Weakness::Text | Weakness::Time => match (ordered, unused) {
            (true, _) => Some(Confidence::High),
            (_, true) => Some(Confidence::Medium),
            _ => None,
        },
    }
}

fn message(fence: &FenceColumn<'_>, weak: Weakness) -> String {
    let name = &fence.column.name;
    let table = &fence.table.name.name;
    match weak {
        Weakness::Narrow => format!(
            "`{name}` of `{table}` has 32 bits or fewer: when its numbers run out, every write is refused or old tokens look new"
        ),
        Weakness::Text => format!(
            "`{name}` of `{table}` is text and compared letter by letter, so that token 10 is older than token 9"
        ),
        Weakness::Float => format!(
            "`{name}` of `{table}` is a floating-point number: large tokens are rounded, and a stale one can equal the current one"
        ),
        Weakness::Time => format!(
            "`{name}` of `{table}` is a time: two holders can have the same one, and a clock that is set back makes the newer one look stale"
        ),
    }
}
