//! The schema that a history of migrations leads to.
//!
//! Replays facts only: it reads no file, and knows no framework beyond the order it is given. Down
//! sections are left out. What a table once had and lost stays on record, because statements may still
//! use it.

mod replay;

use std::collections::BTreeMap;

use crate::facts::sql::{Dialect, TableName};
use crate::facts::{Location, Span};

pub use replay::{SchemaStep, replay};

/// Every database of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    pub databases: Vec<Database>,
}

/// The tables that one history makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// The package whose files made it.
    pub package: Option<usize>,
    /// The folder of the migrations, or a name for another source.
    pub root: String,
    pub dialect: Dialect,
    /// Made by files that are no migrations and that nothing refers to: it explains, and is not judged.
    pub is_context: bool,
    /// By bare name in lower case; one name may stand in several schemas.
    pub tables: BTreeMap<String, Vec<Table>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: TableName,
    pub declared: Option<Location>,
    pub columns: Vec<Column>,
    pub primary_key: Vec<String>,
    /// Unique constraints and indexes, the primary key left out.
    pub unique: Vec<UniqueKey>,
    pub triggers: Vec<UpdateTrigger>,
    pub lost_columns: Vec<LostColumn>,
    pub lost_triggers: Vec<LostTrigger>,
    /// Every statement that shaped it was read by a grammar, so that what it lacks is known too.
    pub is_whole: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueKey {
    /// The name of the index or constraint, when it was given one.
    pub name: Option<String>,
    pub columns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// In lower case, as written.
    pub data_type: String,
    pub not_null: bool,
    pub default: Option<String>,
    /// The database numbers the rows by itself: SERIAL, IDENTITY, AUTO_INCREMENT.
    pub counts_up: bool,
    pub declared: Option<Location>,
    /// Where it was last said whether it may be NULL.
    pub nullable_at: Option<Location>,
    /// Where it was last given a type.
    pub typed_at: Option<Location>,
    /// Where a later file than the table's own added it, so that rows may have been there before.
    pub added_at: Option<Location>,
    /// It was added as NOT NULL with no value for the rows that were there.
    pub added_bare: bool,
}

/// A column as it was before a migration took it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostColumn {
    pub column: Column,
    pub how: Loss,
    pub at: Location,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    Dropped,
    /// The table was made anew without it.
    LeftOut,
    Renamed {
        to: String,
    },
    Retyped {
        to: String,
    },
}

/// A trigger that was dropped or switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostTrigger {
    pub trigger: UpdateTrigger,
    pub at: Location,
}

/// A trigger that fires on updates, with what its function does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateTrigger {
    pub name: String,
    pub of_columns: Vec<String>,
    /// Columns for which it refuses a value that is not newer.
    pub refuses_stale: Vec<String>,
    /// Those of them for which an unchanged value passes.
    pub tolerates_equal: Vec<String>,
    /// Columns that it sets by itself.
    pub advances: Vec<String>,
}

impl Schema {
    /// The table that a statement of this package means. A package may keep one history for each dialect,
    /// and a workspace its migrations in another package than its code, so these are the next choices.
    pub fn table(&self, package: Option<usize>, dialect: Dialect, name: &TableName) -> Option<&Table> {
        let rank = |d: &Database| (d.package != package, d.is_context, d.dialect != dialect);
        let mut databases: Vec<&Database> =
            self.databases.iter().filter(|d| d.table(name).is_some()).collect();
        databases.sort_by_key(|d| rank(d));
        databases.first().and_then(|d| d.table(name))
    }

    /// Adds a table known from elsewhere, such as `diesel::table!`; what a history says has precedence.
    pub fn learn(&mut self, package: Option<usize>, root: &str, dialect: Dialect, table: Table) {
        let known =
            self.databases.iter_mut().filter(|d| d.package == package).find_map(|d| d.table_mut(&table.name));
        if let Some(known) = known {
            for column in table.columns {
                if known.column(&column.name).is_none() {
                    known.columns.push(column);
                }
            }
            if known.primary_key.is_empty() {
                known.primary_key = table.primary_key;
            }
            return;
        }
        let at = self.databases.iter().position(|d| d.package == package && d.root == root);
        let at = at.unwrap_or_else(|| {
            self.databases.push(Database::new(package, root.to_owned(), dialect));
            self.databases.len() - 1
        });
        self.databases[at].put(table);
    }
}

impl Database {
    pub fn new(package: Option<usize>, root: String, dialect: Dialect) -> Self {
        Self { package, root, dialect, is_context: false, tables: BTreeMap::new() }
    }

    pub fn table(&self, name: &TableName) -> Option<&Table> {
        let named = self.tables.get(&name.name.to_lowercase())?;
        named.iter().find(|t| t.is_named(name)).or_else(|| named.first().filter(|_| name.schema.is_none()))
    }

    fn table_mut(&mut self, name: &TableName) -> Option<&mut Table> {
        self.tables.get_mut(&name.name.to_lowercase())?.iter_mut().find(|t| t.is_named(name))
    }

    fn put(&mut self, table: Table) {
        let named = self.tables.entry(table.name.name.to_lowercase()).or_default();
        named.retain(|t| t.name.schema != table.name.schema);
        named.push(table);
    }

    fn take(&mut self, name: &TableName) -> Option<Table> {
        let named = self.tables.get_mut(&name.name.to_lowercase())?;
        let at = named.iter().position(|t| t.is_named(name))?;
        Some(named.remove(at))
    }
}

impl Table {
    pub fn new(name: TableName, declared: Option<Location>) -> Self {
        Self {
            name,
            declared,
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            triggers: Vec::new(),
            lost_columns: Vec::new(),
            lost_triggers: Vec::new(),
            is_whole: true,
        }
    }

    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Whether the column is part of the primary key or of a unique key.
    pub fn is_key_part(&self, name: &str) -> bool {
        let unique = self.unique.iter().flat_map(|key| &key.columns);
        self.primary_key.iter().chain(unique).any(|c| c.eq_ignore_ascii_case(name))
    }

    /// The same name, where a schema that is left out is any schema.
    fn is_named(&self, name: &TableName) -> bool {
        let schemas = match (&self.name.schema, &name.schema) {
            (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
            (Some(only), None) | (None, Some(only)) => {
                name.schema.is_none() || only.eq_ignore_ascii_case("public") || self.name.schema.is_none()
            }
            (None, None) => true,
        };
        schemas && self.name.name.eq_ignore_ascii_case(&name.name)
    }
}

/// A location for the span of a step's statement.
fn locate(step: &SchemaStep<'_>, span: Span) -> Location {
    Location { file: step.at.file, span: step.at.map.source_span(span) }
}
