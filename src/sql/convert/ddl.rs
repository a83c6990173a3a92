//! CREATE TABLE, ALTER TABLE, CREATE INDEX, RENAME TABLE.

use sqlparser::ast::{self, AlterTableOperation as A, ColumnOption, TableConstraint};

use super::Converter;
use crate::facts::Span;
use crate::facts::sql::{
    AlterTable, ColumnDefinition, CreateTable, StatementKind, TableChange, UniqueColumns,
};

impl Converter<'_> {
    pub(super) fn create_table(&self, table: &ast::CreateTable) -> CreateTable {
        let mut found = CreateTable {
            table: self.source.table(&table.name),
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            if_not_exists: table.if_not_exists,
            copies: copied(table).map(|name| self.source.table(name)),
            from_query: table.query.is_some(),
        };
        let mut not_null = self.named_not_null();
        for column in &table.columns {
            let definition = self.column_definition(column);
            let name = definition.name.clone();
            for option in &column.options {
                match option.option {
                    ColumnOption::PrimaryKey(_) => found.primary_key.push(name.clone()),
                    ColumnOption::Unique(_) => found.unique.push(unnamed(name.clone())),
                    _ => {}
                }
            }
            found.columns.push(definition);
        }
        for constraint in &table.constraints {
            match constraint {
                TableConstraint::PrimaryKey(key) => found.primary_key = self.index_columns(&key.columns),
                TableConstraint::Unique(key) => found.unique.push(self.unique_columns(key)),
                TableConstraint::Check(check) => self.checked_columns(&check.expr, &mut not_null),
                _ => {}
            }
        }
        for column in &mut found.columns {
            column.not_null |= not_null.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
        }
        found
    }

    fn column_definition(&self, column: &ast::ColumnDef) -> ColumnDefinition {
        let options: Vec<&ColumnOption> = column.options.iter().map(|o| &o.option).collect();
        self.definition(&column.name, &column.data_type, &options)
    }

    fn definition(
        &self,
        name: &ast::Ident,
        ty: &ast::DataType,
        options: &[&ColumnOption],
    ) -> ColumnDefinition {
        let data_type = ty.to_string().to_lowercase();
        let mut counts_up = data_type.contains("serial");
        let mut not_null = counts_up;
        let mut default = None;
        for option in options {
            match option {
                ColumnOption::NotNull | ColumnOption::PrimaryKey(_) => not_null = true,
                ColumnOption::Identity(_) | ColumnOption::Generated { generation_expr: None, .. } => {
                    not_null = true;
                    counts_up = true;
                }
                ColumnOption::Generated { .. } => not_null = true,
                ColumnOption::Check(check) => not_null |= refuses_null(&check.expr).is_some(),
                ColumnOption::DialectSpecific(tokens) => {
                    let word = tokens.first().map(ToString::to_string).unwrap_or_default();
                    counts_up |= ["AUTO_INCREMENT", "AUTOINCREMENT"].contains(&word.to_uppercase().as_str());
                }
                ColumnOption::Default(value) => default = Some(self.text_of(value)),
                _ => {}
            }
        }
        ColumnDefinition {
            name: self.source.name(name),
            data_type,
            not_null,
            default,
            counts_up,
            span: self.source.span(name.span),
        }
    }

    /// The default's text: from the source where its span is known, else as the grammar prints it.
    fn text_of(&self, value: &ast::Expr) -> String {
        match value {
            ast::Expr::Value(v) => self.source.slice(self.source.span(v.span)).to_owned(),
            other => other.to_string(),
        }
    }

    fn unique_columns(&self, key: &ast::UniqueConstraint) -> UniqueColumns {
        let name = key.name.as_ref().or(key.index_name.as_ref()).map(|name| self.source.name(name));
        UniqueColumns { name, columns: self.index_columns(&key.columns) }
    }

    fn index_columns(&self, columns: &[ast::IndexColumn]) -> Vec<String> {
        let name = |c: &ast::IndexColumn| match &c.column.expr {
            ast::Expr::Identifier(ident) => self.source.name(ident),
            // An expression makes the index say nothing about a column by itself.
            other => format!("({other})"),
        };
        columns.iter().map(name).collect()
    }

    pub(super) fn create_index(&self, index: &ast::CreateIndex) -> StatementKind {
        let mut columns = self.index_columns(&index.columns);
        let partial = index.predicate.is_some();
        if partial && index.unique {
            // Unique among some rows only.
            columns.push("(where)".to_owned());
        }
        StatementKind::CreateIndex {
            name: index.name.as_ref().map(|name| self.source.table(name).name),
            table: self.source.table(&index.table_name),
            columns,
            unique: index.unique,
        }
    }

    pub(super) fn rename_table(&self, renames: &[ast::RenameTable]) -> Option<StatementKind> {
        let first = renames.first()?;
        let to = self.source.table(&first.new_name);
        let changes = vec![TableChange::RenameTable { to }];
        Some(StatementKind::AlterTable(AlterTable { table: self.source.table(&first.old_name), changes }))
    }

    pub(super) fn alter_table(&self, alter: &ast::AlterTable) -> AlterTable {
        let mut changes = Vec::new();
        for operation in &alter.operations {
            self.change(operation, &mut changes);
        }
        let named = self.named_not_null().into_iter();
        changes.extend(named.map(|column| TableChange::SetNotNull { column }));
        AlterTable { table: self.source.table(&alter.name), changes }
    }

    fn change(&self, operation: &A, changes: &mut Vec<TableChange>) {
        let name = |i: &ast::Ident| self.source.name(i);
        let span = |i: &ast::Ident| self.source.span(i.span);
        match operation {
            A::AddColumn { column_def, .. } => {
                let column = self.column_definition(column_def);
                for option in &column_def.options {
                    match option.option {
                        ColumnOption::PrimaryKey(_) => {
                            changes.push(TableChange::AddPrimaryKey { columns: vec![column.name.clone()] });
                        }
                        ColumnOption::Unique(_) => {
                            changes.push(TableChange::AddUnique(unnamed(column.name.clone())));
                        }
                        _ => {}
                    }
                }
                changes.push(TableChange::AddColumn(column));
            }
            A::DropColumn { column_names, .. } => changes.extend(
                column_names.iter().map(|c| TableChange::DropColumn { name: name(c), span: span(c) }),
            ),
            A::RenameColumn { old_column_name, new_column_name } => changes.push(TableChange::RenameColumn {
                from: name(old_column_name),
                to: name(new_column_name),
                span: span(old_column_name),
            }),
            A::RenameTable {
                table_name: ast::RenameTableNameKind::As(to) | ast::RenameTableNameKind::To(to),
            } => changes.push(TableChange::RenameTable { to: self.source.table(to) }),
            A::ChangeColumn { old_name, new_name, data_type, options, .. } => {
                if name(old_name) != name(new_name) {
                    changes.push(TableChange::RenameColumn {
                        from: name(old_name),
                        to: name(new_name),
                        span: span(old_name),
                    });
                }
                self.redefine(new_name, data_type, options, changes);
            }
            A::ModifyColumn { col_name, data_type, options, .. } => {
                self.redefine(col_name, data_type, options, changes);
            }
            A::AlterColumn { column_name, op } => changes.push(self.column_change(column_name, op)),
            A::AddConstraint { constraint: TableConstraint::PrimaryKey(key), .. } => {
                changes.push(TableChange::AddPrimaryKey { columns: self.index_columns(&key.columns) });
            }
            A::AddConstraint { constraint: TableConstraint::Unique(key), .. } => {
                changes.push(TableChange::AddUnique(self.unique_columns(key)));
            }
            A::DropConstraint { name: key, .. } | A::DropIndex { name: key } => {
                changes.push(TableChange::DropKey { name: name(key) });
            }
            A::DropPrimaryKey { .. } => changes.push(TableChange::DropPrimaryKey),
            A::AddConstraint { constraint: TableConstraint::Check(check), .. } => {
                let mut columns = Vec::new();
                self.checked_columns(&check.expr, &mut columns);
                changes.extend(columns.into_iter().map(|column| TableChange::SetNotNull { column }));
            }
            A::DisableTrigger { name } => changes.push(self.switch(name, false)),
            A::EnableTrigger { name }
            | A::EnableAlwaysTrigger { name }
            | A::EnableReplicaTrigger { name } => {
                changes.push(self.switch(name, true));
            }
            _ => changes.push(TableChange::Other),
        }
    }

    /// `ALL` and `USER` speak of every trigger of the table.
    fn switch(&self, name: &ast::Ident, enabled: bool) -> TableChange {
        let every = ["ALL", "USER"].iter().any(|word| name.value.eq_ignore_ascii_case(word));
        let span = self.source.span(name.span);
        TableChange::SwitchTrigger { name: (!every).then(|| self.source.name(name)), enabled, span }
    }

    /// The columns for which a check refuses NULL.
    fn checked_columns(&self, check: &ast::Expr, found: &mut Vec<String>) {
        found.extend(refuses_null(check).map(|column| self.source.name(column)));
    }

    /// Columns of `CONSTRAINT x NOT NULL c`, which the grammar does not know and a repair has blanked.
    fn named_not_null(&self) -> Vec<String> {
        let text = self.source.text;
        let tokens = &self.source.tokens;
        let named = tokens
            .windows(5)
            .filter(|w| w[0].is(text, "CONSTRAINT") && w[2].is(text, "NOT") && w[3].is(text, "NULL"));
        named.map(|w| w[4].text(text).trim_matches(['"', '`']).to_owned()).collect()
    }

    fn column_change(&self, column: &ast::Ident, op: &ast::AlterColumnOperation) -> TableChange {
        use ast::AlterColumnOperation as O;
        let name = self.source.name(column);
        match op {
            O::SetNotNull => TableChange::SetNotNull { column: name },
            O::DropNotNull => TableChange::DropNotNull { column: name, span: self.source.span(column.span) },
            O::SetDefault { value } => TableChange::SetDefault { column: name, default: self.text_of(value) },
            O::DropDefault => TableChange::DropDefault { column: name },
            O::SetDataType { data_type, .. } => self.set_type(name, data_type, self.source.span(column.span)),
            _ => TableChange::Other,
        }
    }

    fn set_type(&self, column: String, data_type: &ast::DataType, span: Span) -> TableChange {
        TableChange::SetType { column, data_type: data_type.to_string().to_lowercase(), span }
    }

    /// MySQL's MODIFY and CHANGE state the whole column anew.
    fn redefine(
        &self,
        column: &ast::Ident,
        data_type: &ast::DataType,
        options: &[ColumnOption],
        changes: &mut Vec<TableChange>,
    ) {
        let options: Vec<&ColumnOption> = options.iter().collect();
        let definition = self.definition(column, data_type, &options);
        let name = definition.name;
        changes.push(self.set_type(name.clone(), data_type, definition.span));
        changes.push(if definition.not_null {
            TableChange::SetNotNull { column: name.clone() }
        } else {
            TableChange::DropNotNull { column: name.clone(), span: definition.span }
        });
        changes.push(match definition.default {
            Some(default) => TableChange::SetDefault { column: name, default },
            None => TableChange::DropDefault { column: name },
        });
    }
}

fn copied(table: &ast::CreateTable) -> Option<&ast::ObjectName> {
    use ast::CreateTableLikeKind as K;
    let like = table.like.as_ref().map(|like| match like {
        K::Parenthesized(like) | K::Plain(like) => &like.name,
    });
    let inherited = || table.inherits.as_ref().and_then(|parents| parents.first());
    table.partition_of.as_ref().or(like).or_else(inherited).or(table.clone.as_ref())
}

fn unnamed(column: String) -> UniqueColumns {
    UniqueColumns { name: None, columns: vec![column] }
}

/// The column of `c IS NOT NULL`, alone or as a part that must hold.
fn refuses_null(check: &ast::Expr) -> Option<&ast::Ident> {
    let mut check = check;
    loop {
        match check {
            ast::Expr::Nested(inner) => check = inner,
            ast::Expr::IsNotNull(inner) => match &**inner {
                ast::Expr::Identifier(column) => return Some(column),
                _ => return None,
            },
            ast::Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
                if let ast::Expr::IsNotNull(inner) = &**right
                    && let ast::Expr::Identifier(column) = &**inner
                {
                    return Some(column);
                }
                check = left;
            }
            _ => return None,
        }
    }
}
