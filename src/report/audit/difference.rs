//! What has become of the locks since a revision.

use std::io::{self, Write};

use serde::Serialize;

use crate::audit::{Change, Item};
use crate::report::sanitize;
use crate::report::written::pretty_json;

/// For people, in a form that is Markdown as well.
pub fn write_difference(out: &mut dyn Write, changes: &[Change]) -> io::Result<()> {
    if changes.is_empty() {
        return writeln!(out, "no lock is better or worse");
    }
    for change in changes {
        let items: Vec<String> = change
            .items
            .iter()
            .map(|(item, before, now)| format!("{} {before} -> {now}", item.name()))
            .collect();
        let name = sanitize::line(&change.name).replace('`', "'");
        writeln!(out, "- {}: `{name}` ({}): {}", change.direction.word(), change.store, items.join(", "))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct JsonChange<'a> {
    name: &'a str,
    store: &'a str,
    change: &'a str,
    checklist: Vec<JsonItem>,
}

#[derive(Serialize)]
struct JsonItem {
    item: Item,
    before: &'static str,
    now: &'static str,
}

#[derive(Serialize)]
struct Root<'a> {
    schema: u32,
    changes: Vec<JsonChange<'a>>,
}

pub fn write_difference_json(out: &mut dyn Write, changes: &[Change]) -> io::Result<()> {
    let changes = changes
        .iter()
        .map(|change| JsonChange {
            name: &change.name,
            store: change.store,
            change: change.direction.word(),
            checklist: change
                .items
                .iter()
                .map(|(item, before, now)| JsonItem { item: *item, before, now })
                .collect(),
        })
        .collect();
    pretty_json(out, &Root { schema: 1, changes })
}
