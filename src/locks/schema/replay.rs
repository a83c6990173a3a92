//! One statement after the other changes the tables.

use std::collections::BTreeMap;

use super::{
    Column, Database, Loss, LostColumn, LostTrigger, Schema, Table, UniqueKey, UpdateTrigger, locate,
};
use crate::facts::Location;
use crate::facts::migration::OrderKey;
use crate::facts::sql::{
    ColumnDefinition, CreateTable, Dialect, Routine, Section, Statement, StatementKind, TableChange,
    TableName, Trigger, UniqueColumns,
};
use crate::locks::statement::StatementText;

/// A statement of a history, with its place in it. Files whose role is a down migration are not to be
/// handed in; down sections inside a file are left out here.
#[derive(Debug, Clone, Copy)]
pub struct SchemaStep<'a> {
    pub statement: &'a Statement,
    pub at: &'a StatementText,
    pub dialect: Dialect,
    pub package: Option<usize>,
    /// Statements of one root make one database.
    pub root: &'a str,
    /// `None` runs after everything that has a number: DDL in Rust text, or a snapshot.
    pub order: Option<&'a OrderKey>,
    /// A dump counts only where its package has no history.
    pub snapshot: bool,
    /// From a file that is no migration and that nothing refers to.
    pub is_context: bool,
}

/// Makes the schema that the steps lead to; they may come in any order.
pub fn replay(mut steps: Vec<SchemaStep<'_>>) -> Schema {
    steps.retain(|s| s.statement.section == Section::Up);
    let makes =
        |s: &&SchemaStep<'_>| s.order.is_some() && matches!(s.statement.kind, StatementKind::CreateTable(_));
    let has_history: Vec<Option<usize>> = steps.iter().filter(makes).map(|s| s.package).collect();
    steps.retain(|s| !s.snapshot || !has_history.contains(&s.package));
    steps.sort_by_key(|s| (s.package, s.root, s.order.is_none(), s.order, s.at.file, s.statement.span.start));
    let mut schema = Schema::default();
    let mut current: Option<Replay> = None;
    for step in steps {
        let same = current.as_ref().is_some_and(|c| c.db.package == step.package && c.db.root == step.root);
        if !same {
            schema.databases.extend(current.take().map(Replay::finish));
            current = Some(Replay::new(&step));
        }
        if let Some(current) = &mut current {
            current.apply(&step);
        }
    }
    schema.databases.extend(current.map(Replay::finish));
    schema
}

struct Replay {
    db: Database,
    routines: BTreeMap<String, Routine>,
    /// The function that each trigger calls, by the trigger's name.
    calls: Vec<(String, String)>,
    /// Tables that were dropped; one of the same name may take their place.
    gone: Vec<(Table, Location)>,
    /// Triggers that are switched off for now.
    disabled: Vec<(TableName, LostTrigger)>,
}

impl Replay {
    fn new(step: &SchemaStep<'_>) -> Self {
        let mut db = Database::new(step.package, step.root.to_owned(), step.dialect);
        db.is_context = step.is_context;
        Self { db, routines: BTreeMap::new(), calls: Vec::new(), gone: Vec::new(), disabled: Vec::new() }
    }

    /// Gives the triggers what their functions do; a function may come after its trigger.
    fn finish(mut self) -> Database {
        for (table, lost) in std::mem::take(&mut self.disabled) {
            if let Some(table) = self.db.table_mut(&table) {
                table.lost_triggers.push(lost);
            }
        }
        for (trigger, function) in &self.calls {
            let Some(routine) = self.routines.get(&function.to_lowercase()) else { continue };
            for table in self.db.tables.values_mut().flatten() {
                let lost = table.lost_triggers.iter_mut().map(|lost| &mut lost.trigger);
                for found in table.triggers.iter_mut().chain(lost).filter(|t| t.name == *trigger) {
                    learn(found, routine);
                }
            }
        }
        self.db.tables.retain(|_, tables| !tables.is_empty());
        self.db
    }

    fn apply(&mut self, step: &SchemaStep<'_>) {
        match &step.statement.kind {
            StatementKind::CreateTable(create) => self.create(step, create),
            StatementKind::AlterTable(alter) => {
                for change in &alter.changes {
                    self.change(step, &alter.table, change);
                }
            }
            StatementKind::DropTable { tables } => {
                let at = locate(step, step.statement.span);
                for table in tables {
                    self.gone.extend(self.db.take(table).map(|gone| (gone, at)));
                }
            }
            StatementKind::CreateIndex { name, table, columns, unique: true } => {
                if let Some(table) = self.db.table_mut(table) {
                    table.unique.push(UniqueKey { name: name.clone(), columns: columns.clone() });
                }
            }
            StatementKind::DropIndex { names, table } => {
                let tables = self.db.tables.values_mut().flatten();
                for found in tables.filter(|t| table.as_ref().is_none_or(|n| t.is_named(n))) {
                    names.iter().for_each(|name| drop_key(found, name));
                }
            }
            StatementKind::CreateFunction(routine) => {
                self.routines.insert(routine.name.to_lowercase(), routine.clone());
            }
            StatementKind::CreateTrigger(trigger) => self.trigger(trigger),
            StatementKind::DropTrigger { name, table } => self.drop_trigger(step, name, table.as_ref()),
            _ => {}
        }
    }

    fn create(&mut self, step: &SchemaStep<'_>, create: &CreateTable) {
        if create.if_not_exists && self.db.table_mut(&create.table).is_some() {
            return;
        }
        let mut table = Table::new(create.table.clone(), Some(locate(step, step.statement.span)));
        table.is_whole = step.statement.parsed && !create.from_query;
        table.columns = create.columns.iter().map(|c| column(step, c)).collect();
        table.primary_key = create.primary_key.clone();
        table.unique = create.unique.iter().map(unique_key).collect();
        if let Some(original) = &create.copies {
            self.copy(&mut table, original);
        }
        key_is_not_null(&mut table);
        self.put(table);
    }

    /// Columns and keys of another table; triggers stay with that one.
    fn copy(&mut self, table: &mut Table, original: &TableName) {
        let Some(original) = self.db.table_mut(original) else {
            table.is_whole = false;
            return;
        };
        for column in &original.columns {
            if table.column(&column.name).is_none() {
                table.columns.push(column.clone());
            }
        }
        if table.primary_key.is_empty() {
            table.primary_key.clone_from(&original.primary_key);
        }
        table.unique.extend(original.unique.iter().cloned());
        table.is_whole &= original.is_whole;
    }

    /// Puts a table where another one of its name may have stood, and notes what it lacks of that one.
    fn put(&mut self, mut table: Table) {
        if let Some(at) = self.gone.iter().position(|(gone, _)| gone.is_named(&table.name)) {
            let (gone, dropped_at) = self.gone.remove(at);
            table.lost_columns.splice(0..0, gone.lost_columns);
            let without = table.declared.unwrap_or(dropped_at);
            for column in gone.columns {
                // A table that was not read in full may have it.
                if table.is_whole && table.column(&column.name).is_none() {
                    table.lost_columns.push(LostColumn { column, how: Loss::LeftOut, at: without });
                }
            }
            let triggers = gone.triggers.into_iter();
            table.lost_triggers.extend(triggers.map(|trigger| LostTrigger { trigger, at: dropped_at }));
        }
        self.db.put(table);
    }

    fn change(&mut self, step: &SchemaStep<'_>, name: &TableName, change: &TableChange) {
        if let TableChange::RenameTable { to } = change {
            if let Some(mut table) = self.db.take(name) {
                let schema = to.schema.clone().or_else(|| table.name.schema.clone());
                table.name = TableName { schema, name: to.name.clone() };
                self.put(table);
            }
            return;
        }
        if self.db.table_mut(name).is_none() {
            // Made by something that is not in the history.
            self.db.put(Table::new(name.clone(), None));
        }
        if let TableChange::SwitchTrigger { name: trigger, enabled, span } = change {
            self.switch_trigger(step, name, trigger.as_deref(), (*enabled, *span));
        } else if let Some(table) = self.db.table_mut(name) {
            alter(step, table, change);
        }
    }

    fn switch_trigger(
        &mut self,
        step: &SchemaStep<'_>,
        table: &TableName,
        trigger: Option<&str>,
        (enabled, span): (bool, crate::facts::Span),
    ) {
        let is_meant = |t: &UpdateTrigger| trigger.is_none_or(|name| t.name.eq_ignore_ascii_case(name));
        let Some(found) = self.db.table_mut(table) else { return };
        if enabled {
            let of_table = |(name, lost): &mut (TableName, LostTrigger)| {
                name.name.eq_ignore_ascii_case(&table.name) && is_meant(&lost.trigger)
            };
            found.triggers.extend(self.disabled.extract_if(.., of_table).map(|(_, lost)| lost.trigger));
            return;
        }
        let at = locate(step, span);
        let off = found.triggers.extract_if(.., |t| is_meant(t));
        self.disabled.extend(off.map(|trigger| (table.clone(), LostTrigger { trigger, at })));
    }

    fn trigger(&mut self, trigger: &Trigger) {
        if !trigger.before_update {
            return;
        }
        let Some(table) = self.db.table_mut(&trigger.table) else { return };
        table.triggers.retain(|t| t.name != trigger.name);
        table.triggers.push(UpdateTrigger {
            name: trigger.name.clone(),
            of_columns: trigger.of_columns.clone(),
            refuses_stale: trigger.refuses_stale.clone(),
            tolerates_equal: trigger.tolerates_equal.clone(),
            advances: trigger.advances.clone(),
        });
        if let Some(function) = &trigger.function {
            self.calls.retain(|(name, _)| *name != trigger.name);
            self.calls.push((trigger.name.clone(), function.clone()));
        }
    }

    fn drop_trigger(&mut self, step: &SchemaStep<'_>, name: &str, table: Option<&TableName>) {
        let at = locate(step, step.statement.span);
        let tables = self.db.tables.values_mut().flatten();
        for found in tables.filter(|t| table.is_none_or(|n| t.is_named(n))) {
            let dropped = found.triggers.extract_if(.., |t| t.name.eq_ignore_ascii_case(name));
            let lost = dropped.map(|trigger| LostTrigger { trigger, at });
            found.lost_triggers.extend(lost);
        }
    }
}

fn unique_key(key: &UniqueColumns) -> UniqueKey {
    UniqueKey { name: key.name.clone(), columns: key.columns.clone() }
}

/// Drops the key of this name; keys without one go by the name that the database gives them.
fn drop_key(table: &mut Table, name: &str) {
    let of_table = table.name.name.clone();
    let given = |columns: &[String]| {
        let postgres = format!("{of_table}_{}_key", columns.join("_"));
        let mysql = columns.first().cloned().unwrap_or_default();
        [postgres, mysql].iter().any(|n| n.eq_ignore_ascii_case(name))
    };
    table.unique.retain(|key| match &key.name {
        Some(own) => !own.eq_ignore_ascii_case(name),
        None => !given(&key.columns),
    });
    if name.eq_ignore_ascii_case(&format!("{of_table}_pkey")) {
        table.primary_key.clear();
    }
}

fn learn(trigger: &mut UpdateTrigger, routine: &Routine) {
    trigger.refuses_stale.extend(routine.refuses_stale.iter().cloned());
    trigger.tolerates_equal.extend(routine.tolerates_equal.iter().cloned());
    trigger.advances.extend(routine.advances.iter().cloned());
}

fn key_is_not_null(table: &mut Table) {
    for key in &table.primary_key {
        if let Some(column) = table.columns.iter_mut().find(|c| c.name.eq_ignore_ascii_case(key)) {
            column.not_null = true;
        }
    }
}

fn column(step: &SchemaStep<'_>, definition: &ColumnDefinition) -> Column {
    let declared = Some(locate(step, definition.span));
    Column {
        name: definition.name.clone(),
        data_type: definition.data_type.clone(),
        not_null: definition.not_null,
        default: definition.default.clone(),
        counts_up: definition.counts_up,
        declared,
        nullable_at: declared,
        typed_at: declared,
        added_at: None,
        added_bare: false,
    }
}

fn alter(step: &SchemaStep<'_>, table: &mut Table, change: &TableChange) {
    match change {
        TableChange::AddColumn(definition) => {
            if table.column(&definition.name).is_none() {
                table.columns.push(added(step, table, definition));
            }
        }
        TableChange::DropColumn { name, span } => {
            if let Some(at) = table.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name)) {
                let column = table.columns.remove(at);
                let at = locate(step, *span);
                table.lost_columns.push(LostColumn { column, how: Loss::Dropped, at });
            }
            table.primary_key.retain(|c| !c.eq_ignore_ascii_case(name));
            table.unique.retain(|key| !key.columns.iter().any(|c| c.eq_ignore_ascii_case(name)));
        }
        TableChange::RenameColumn { from, to, span } => rename(table, from, to, locate(step, *span)),
        TableChange::SetNotNull { column } => edit(table, column, |c| c.not_null = true),
        TableChange::DropNotNull { column, span } => edit(table, column, |c| {
            c.not_null = false;
            c.nullable_at = Some(locate(step, *span));
        }),
        TableChange::SetType { column, data_type, span } => {
            retype(table, column, data_type, locate(step, *span))
        }
        TableChange::SetDefault { column, default } => {
            edit(table, column, |c| c.default = Some(default.clone()))
        }
        TableChange::DropDefault { column } => edit(table, column, |c| c.default = None),
        TableChange::AddPrimaryKey { columns } => {
            table.primary_key.clone_from(columns);
            key_is_not_null(table);
        }
        TableChange::AddUnique(key) => table.unique.push(unique_key(key)),
        TableChange::DropKey { name } => drop_key(table, name),
        TableChange::DropPrimaryKey => table.primary_key.clear(),
        TableChange::RenameTable { .. } | TableChange::SwitchTrigger { .. } | TableChange::Other => {}
    }
}

/// A column that joins a table whose rows may be there already.
fn added(step: &SchemaStep<'_>, table: &Table, definition: &ColumnDefinition) -> Column {
    let mut column = column(step, definition);
    let is_empty = table.declared.is_some_and(|declared| declared.file == step.at.file);
    if !is_empty {
        column.added_at = column.declared;
        column.added_bare = column.not_null && column.default.is_none() && !column.counts_up;
    }
    column
}

fn retype(table: &mut Table, name: &str, data_type: &str, at: Location) {
    let Some(column) = table.column(name).cloned() else { return };
    if column.data_type == data_type {
        return;
    }
    let how = Loss::Retyped { to: data_type.to_owned() };
    table.lost_columns.push(LostColumn { column, how, at });
    edit(table, name, |c| {
        c.data_type = data_type.to_owned();
        c.counts_up |= data_type.contains("serial");
        c.typed_at = Some(at);
    });
}

fn edit(table: &mut Table, name: &str, change: impl FnOnce(&mut Column)) {
    if let Some(column) = table.columns.iter_mut().find(|c| c.name.eq_ignore_ascii_case(name)) {
        change(column);
    }
}

fn rename(table: &mut Table, from: &str, to: &str, at: Location) {
    if let Some(column) = table.column(from).cloned() {
        table.lost_columns.push(LostColumn { column, how: Loss::Renamed { to: to.to_owned() }, at });
    }
    edit(table, from, |c| to.clone_into(&mut c.name));
    let unique = table.unique.iter_mut().flat_map(|key| &mut key.columns);
    for name in table.primary_key.iter_mut().chain(unique) {
        if name.eq_ignore_ascii_case(from) {
            to.clone_into(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::migration::SqlFileRole;
    use crate::facts::{FileId, TextMap};
    use crate::sql::migration::classify;

    fn schema(files: &[(&str, &str)]) -> Schema {
        let read: Vec<_> = files
            .iter()
            .enumerate()
            .map(|(i, (path, text))| {
                let at = StatementText { file: FileId(i as u32), map: TextMap::verbatim(0) };
                (classify(path, text), crate::sql::parse(text, Dialect::Postgres), at)
            })
            .collect();
        let mut steps = Vec::new();
        for (role, text, at) in &read {
            for statement in &text.statements {
                let (root, order, snapshot) = match role {
                    SqlFileRole::Migration { root, order, section, .. } if *section == Section::Up => {
                        (root.as_str(), Some(order), false)
                    }
                    SqlFileRole::Snapshot => ("dump", None, true),
                    _ => continue,
                };
                steps.push(SchemaStep {
                    statement,
                    at,
                    dialect: Dialect::Postgres,
                    package: None,
                    root,
                    order,
                    snapshot,
                    is_context: false,
                });
            }
        }
        steps.reverse();
        replay(steps)
    }

    fn table<'a>(schema: &'a Schema, name: &str) -> &'a Table {
        schema.table(None, Dialect::Postgres, &TableName { schema: None, name: name.into() }).unwrap()
    }

    #[test]
    fn changes_apply_in_the_order_of_their_numbers() {
        let schema = schema(&[
            (
                "migrations/10_c.sql",
                "ALTER TABLE a ALTER COLUMN fence SET NOT NULL; ALTER TABLE a RENAME TO b;",
            ),
            (
                "migrations/9_b.sql",
                "ALTER TABLE a ADD COLUMN tok BIGINT; ALTER TABLE a RENAME COLUMN tok TO fence;",
            ),
            (
                "migrations/1_a.sql",
                "CREATE TABLE a (id BIGINT PRIMARY KEY, old TEXT); CREATE UNIQUE INDEX u ON a (old);",
            ),
            ("migrations/11_d.up.sql", "ALTER TABLE b DROP COLUMN old;"),
            ("migrations/11_d.down.sql", "ALTER TABLE b DROP COLUMN fence;"),
        ]);
        let found = table(&schema, "B");
        assert!(found.column("fence").unwrap().not_null);
        assert!(found.column("old").is_none() && found.unique.is_empty());
        assert_eq!(
            found.lost_columns.iter().map(|d| d.column.name.as_str()).collect::<Vec<_>>(),
            ["tok", "old"]
        );
        assert!(found.is_key_part("id"));
    }

    #[test]
    fn a_rebuilt_table_takes_the_old_name() {
        let schema = schema(&[(
            "migrations/1_a.sql",
            "CREATE TABLE t (id INT); CREATE TABLE t_new (id INT, fence BIGINT NOT NULL); DROP TABLE t; ALTER TABLE t_new RENAME TO t;",
        )]);
        assert!(table(&schema, "t").column("fence").is_some());
        assert_eq!(schema.databases[0].tables.len(), 1);
    }

    #[test]
    fn triggers_learn_from_their_functions_and_can_be_dropped() {
        let function = "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN IF NEW.t <= OLD.t THEN RAISE EXCEPTION 'x'; END IF; RETURN NEW; END $$ LANGUAGE plpgsql;";
        let text = format!(
            "CREATE TABLE a (t BIGINT); CREATE TRIGGER g BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION f(); {function}"
        );
        let found = schema(&[("migrations/1_a.sql", &text)]);
        assert_eq!(table(&found, "a").triggers[0].refuses_stale, ["t"]);
        let dropped = schema(&[("migrations/1_a.sql", &format!("{text} DROP TRIGGER g ON a;"))]);
        assert!(table(&dropped, "a").triggers.is_empty());
    }

    #[test]
    fn a_dump_counts_without_a_history_only() {
        let dump = ("db/schema.sql", "CREATE TABLE a (t BIGINT);");
        let find = |schema: &Schema| {
            schema.table(None, Dialect::Postgres, &TableName { schema: None, name: "a".into() }).is_some()
        };
        assert!(find(&schema(&[dump])));
        let both = schema(&[dump, ("migrations/1_b.sql", "CREATE TABLE b (t BIGINT);")]);
        assert!(!find(&both));
    }
}
