//! A migration that takes the fence away from statements that still lean on it.

use crate::facts::Location;
use crate::finding::Confidence;
use crate::locks::Inventory;
use crate::locks::fences::{LostFence, lost_fences, lost_guards};
use crate::locks::schema::Loss;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for lost in lost_fences(inventory) {
        report.add(column(&lost));
    }
    for lost in lost_guards(inventory) {
        let table = &lost.table.name.name;
        let column = lost.column;
        let message = format!(
            "the trigger `{}` was all that refused stale values of `{column}` in `{table}`, and statements that compare nothing still write to it",
            lost.trigger
        );
        let help = format!(
            "keep the trigger, or compare `{column}` in every statement that writes to `{table}` before it goes"
        );
        report.add(
            Draft::new(lost.at, "takes the check away", message, help)
                .lock(table.clone())
                .related(lost.used_at, "this statement relied on the trigger"),
        );
    }
}

fn column(lost: &LostFence<'_>) -> Draft {
    let name = &lost.column.name;
    let table = &lost.table.name.name;
    let (label, message, help) = match lost.how {
        Loss::Dropped => (
            "dropped here".to_owned(),
            format!("`{name}` of `{table}` is dropped while statements still compare or set it"),
            format!("stop using `{name}` in every program that runs first, or keep the column"),
        ),
        Loss::LeftOut => (
            format!("made anew without `{name}`"),
            format!("`{table}` is made anew without `{name}`, which statements still compare or set"),
            format!("give the new table `{name}` too, and copy its values"),
        ),
        Loss::Renamed { to } => (
            format!("renamed to `{to}`"),
            format!("`{name}` of `{table}` is renamed to `{to}` while statements still use the old name"),
            format!("use `{to}` in every statement, or add it as a second column until all programs do"),
        ),
        Loss::Retyped { to } => (
            format!("becomes `{to}`"),
            format!(
                "`{name}` of `{table}` changes from `{}` to `{to}`, which does not hold or order all tokens that statements compare",
                lost.column.data_type
            ),
            format!("keep `{name}` an integer of 64 bits"),
        ),
    };
    let mut draft = Draft::new(lost.at, label, message, help)
        .lock(table.clone())
        .related(lost.used_at, format!("`{name}` is still used here"));
    if let Some(declared) = lost.column.declared.filter(|at: &Location| *at != lost.at) {
        draft = draft.related(declared, format!("`{name}` was declared here"));
    }
    if lost.is_sure { draft } else { draft.confidence(Confidence::Medium) }
}
