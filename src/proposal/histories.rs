//! Folders whose `.sql` files are the history of a schema: those that are told by their names, and those that a
//! person must name.

use std::collections::BTreeMap;

use crate::check::Survey;
use crate::facts::file::FileFacts;
use crate::facts::sql::{SqlText, StatementKind};
use crate::sql::migration::{SqlFileRole, classify};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct History {
    /// From the project's folder; empty for that itself.
    pub(super) folder: String,
    pub(super) files: usize,
    /// It is read as a history without being named.
    pub(super) is_known: bool,
}

/// Numbered files of one folder that a framework's form does not say to be steps.
#[derive(Default)]
struct Numbered {
    files: usize,
    others: usize,
    makes_tables: bool,
}

pub(super) fn seen(survey: &Survey) -> Vec<History> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut folders: BTreeMap<String, Numbered> = BTreeMap::new();
    for file in &survey.parsed {
        let FileFacts::Sql(facts, _) = &*file.facts else { continue };
        let path = survey.sources.path(file.file);
        let text = survey.sources.text(file.file).unwrap_or_default();
        match classify(path, &text) {
            SqlFileRole::Migration { root, .. } => *known.entry(root).or_default() += 1,
            SqlFileRole::Unknown => {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                let folder = folders.entry(folder.to_owned()).or_default();
                let is_numbered = name.starts_with(|first: char| first.is_ascii_digit());
                let count = if is_numbered { &mut folder.files } else { &mut folder.others };
                *count += 1;
                folder.makes_tables |= is_numbered && makes_tables(facts);
            }
            SqlFileRole::Snapshot | SqlFileRole::Query => {}
        }
    }
    let known = known.into_iter().map(|(folder, files)| History { folder, files, is_known: true });
    let unnamed = folders
        .into_iter()
        .filter(|(_, found)| found.files > 1 && found.others == 0 && found.makes_tables)
        .map(|(folder, found)| History { folder, files: found.files, is_known: false });
    known.chain(unnamed).collect()
}

fn makes_tables(facts: &SqlText) -> bool {
    let is_change =
        |kind: &StatementKind| matches!(kind, StatementKind::CreateTable(_) | StatementKind::AlterTable(_));
    facts.statements.iter().any(|statement| is_change(&statement.kind))
}
