//! What a name says of a table that code declares: the table itself, one of its columns, a row of it.
//! What is done with it is not its concern.

use std::collections::HashSet;

use crate::facts::rust::{Table, TypeKind};

use super::paths::Target;
use super::{Program, Scope, SourceUnit, TypeEntry};

/// A table by its file and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId {
    unit: usize,
    at: usize,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    Table(TableId),
    /// A column, by its position in the table.
    Column(TableId, usize),
    Row(TableId),
}

impl Program<'_> {
    pub fn table(&self, id: TableId) -> Option<&Table> {
        self.units.get(id.unit)?.facts.tables.get(id.at)
    }

    /// Everything in declared tables that a path can mean: one name can be a column of several tables.
    pub fn declared_at(&self, from: Scope, path: &[String]) -> Vec<Declared> {
        let may_be = |name: &String| self.table_names.contains(name.as_str());
        // Of a column's path, the enum of the columns is what has been declared.
        if !path.iter().rev().take(2).any(may_be) {
            return Vec::new();
        }
        let mut found = self.declared_through(from, path);
        if found.is_empty() && path.len() == 1 {
            // A module of the same name, such as that of the table, is no value.
            for glob in &self.modules.all[from.module].globs {
                let inside: Vec<String> = glob.path.iter().chain(path).cloned().collect();
                found.extend(self.declared_through(from, &inside));
            }
        }
        if found.is_empty() {
            found.extend(self.declared_by_name(from, path));
        }
        found
    }

    fn declared_through(&self, from: Scope, path: &[String]) -> Vec<Declared> {
        let mut found = Vec::new();
        for target in self.targets(from.module, path).iter() {
            if let Target::Item { module, name, rest } = target {
                let types = self.modules.all[*module].types.get(name.as_str()).into_iter().flatten();
                found.extend(types.filter_map(|&ty| self.declared(&self.types[ty], rest)));
            }
        }
        found
    }

    /// The table whose model a type is.
    pub fn table_of_model(&self, entry: &TypeEntry<'_>) -> Option<TableId> {
        let derives = |name: &str| entry.definition.derives.iter().any(|derived| derived == name);
        if !derives("DeriveEntityModel") {
            return None;
        }
        let siblings = self.modules.all[entry.module].types.get("Entity").into_iter().flatten();
        siblings.filter_map(|&ty| self.declared(&self.types[ty], &[])).find_map(|declared| match declared {
            Declared::Table(table) => Some(table),
            _ => None,
        })
    }

    /// The table of this name in Rust that the file can mean.
    pub fn table_named(&self, from: Scope, path: &[String]) -> Option<TableId> {
        let inside: Vec<String> = path.iter().cloned().chain(["table".to_owned()]).collect();
        self.declared_at(from, &inside).into_iter().find_map(|declared| match declared {
            Declared::Table(table) => Some(table),
            _ => None,
        })
    }

    fn declared(&self, entry: &TypeEntry<'_>, rest: &[String]) -> Option<Declared> {
        let id = |at: usize| TableId { unit: entry.unit, at };
        match (&entry.definition.kind, rest) {
            (TypeKind::Table(at), []) => Some(Declared::Table(id(*at))),
            (TypeKind::Row(at), []) => Some(Declared::Row(id(*at))),
            (TypeKind::Column { table, column }, []) => Some(Declared::Column(id(*table), *column)),
            (TypeKind::Columns(at), [variant]) => {
                let columns = &self.table(id(*at))?.columns;
                let column = columns.iter().position(|column| is_variant_of(variant, &column.name))?;
                Some(Declared::Column(id(*at), column))
            }
            _ => None,
        }
    }

    /// Where the modules on the way were not parsed: the one thing of this name in a module of that name.
    fn declared_by_name(&self, from: Scope, path: &[String]) -> Option<Declared> {
        let full = self.full_path(from.module, path);
        let at_variant = full.len().checked_sub(2).filter(|&at| full[at] == "Column");
        let (name_at, rest) = match at_variant {
            Some(at) => (at, &full[at + 1..]),
            None => (full.len().checked_sub(1)?, &full[full.len()..]),
        };
        let module = &full[name_at.checked_sub(1)?];
        let fits = |entry: &TypeEntry<'_>| {
            let written = entry.definition.module.last().map(String::as_str);
            let of_file = || super::file_modules(self.units[entry.unit].path).any(|file| file == module);
            written.map_or_else(of_file, |written| written == module)
        };
        let mut all = self
            .lookup(&self.types_by_name, from.unit, &full[name_at])
            .map(|ty| &self.types[ty])
            .filter(|entry| fits(entry))
            .filter_map(|entry| self.declared(entry, rest));
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }
}

/// The names of tables, columns and rows, also those that imports give them.
pub(super) fn names<'a>(units: &[SourceUnit<'a>]) -> HashSet<&'a str> {
    let is_of_table = |kind: &TypeKind| {
        matches!(kind, TypeKind::Table(_) | TypeKind::Column { .. } | TypeKind::Columns(_) | TypeKind::Row(_))
    };
    let declared = units.iter().flat_map(|unit| &unit.facts.types).filter(|ty| is_of_table(&ty.kind));
    let mut names: HashSet<&str> = declared.map(|ty| ty.name.as_str()).collect();
    let imports = units.iter().flat_map(|unit| &unit.facts.uses);
    let renamed: Vec<&str> = imports
        .filter(|import| import.path.last().is_some_and(|name| names.contains(name.as_str())))
        .map(|import| import.name.as_str())
        .collect();
    names.extend(renamed);
    names
}

/// `ClaimedBy` is the variant of `claimed_by`.
fn is_variant_of(variant: &str, field: &str) -> bool {
    let letters = |name: &str| -> String {
        name.trim_start_matches("r#").chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
    };
    letters(variant) == letters(field)
}
