//! Which rules a project wants for a file, and how grave it takes their findings.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::form::{File, Level, PathTable};

/// What is wanted of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Rules and groups; all when empty.
    pub select: BTreeSet<String>,
    pub ignore: BTreeSet<String>,
    /// What the file's own `[[path]]` tables ignore, whatever is selected.
    pub ignore_here: BTreeSet<String>,
    levels: BTreeMap<String, Level>,
}

impl Policy {
    pub(super) fn of_file(file: &File) -> Self {
        Self {
            select: names(file.select.iter().flatten()),
            ignore: names(file.ignore.iter()),
            ignore_here: BTreeSet::new(),
            levels: levels(&file.levels),
        }
    }

    pub(super) fn of_path(table: &PathTable) -> Self {
        Self { ignore_here: names(table.ignore.iter()), levels: levels(&table.levels), ..Self::default() }
    }

    /// Takes in what a table for some paths says; its levels count for more.
    pub(super) fn narrow(&mut self, other: &Self) {
        self.ignore_here.extend(other.ignore_here.iter().cloned());
        self.levels.extend(other.levels.iter().map(|(name, level)| (name.clone(), *level)));
    }

    /// The level that the project gives a rule: by its own name, else by its group's.
    pub fn level(&self, rule: &str, group: &str) -> Option<Level> {
        self.levels.get(rule).or_else(|| self.levels.get(group)).copied()
    }

    /// Whether one of the file's own tables ignores the rule.
    pub fn ignores_here(&self, rule: &str, group: &str) -> bool {
        self.ignore_here.contains(rule) || self.ignore_here.contains(group)
    }
}

fn names<'s>(written: impl Iterator<Item = &'s Spanned<String>>) -> BTreeSet<String> {
    written.map(|name| name.get_ref().clone()).collect()
}

fn levels(written: &BTreeMap<Spanned<String>, Level>) -> BTreeMap<String, Level> {
    written.iter().map(|(name, level)| (name.get_ref().clone(), *level)).collect()
}
