//! UPDATE, DELETE, INSERT in all its forms, and MERGE.

use sqlparser::ast;

use super::Converter;
use crate::facts::Span;
use crate::facts::sql::{Assignment, Expr, ExprKind, Source, SourceKind, TableName, Write, WriteVerb};

impl Converter<'_> {
    pub(super) fn write(&self, statement: &ast::Statement) -> Option<Write> {
        let mut write = match statement {
            ast::Statement::Update(update) => self.update(update)?,
            ast::Statement::Delete(delete) => self.delete(delete)?,
            ast::Statement::Insert(insert) => self.insert(insert)?,
            ast::Statement::Merge(merge) => return self.merge(merge),
            ast::Statement::Query(query) => match self.query_statement(query) {
                crate::facts::sql::StatementKind::Write(write) => return Some(*write),
                _ => return None,
            },
            _ => return None,
        };
        write.clauses = crate::sql::clauses::of(self.source, &write);
        Some(write)
    }

    fn target(&self, factor: &ast::TableFactor, verb: WriteVerb) -> Option<Write> {
        let ast::TableFactor::Table { name, alias, .. } = factor else {
            return None;
        };
        let mut write = Write::new(verb, self.source.table(name), self.source.name_span(name));
        write.alias = alias.as_ref().map(|a| self.source.name(&a.name));
        Some(write)
    }

    fn update(&self, update: &ast::Update) -> Option<Write> {
        let mut write = self.target(&update.table.relation, WriteVerb::Update)?;
        self.joins(&update.table.joins, &mut write.sources, &mut write.join_conditions);
        if let Some(ast::UpdateTableFromKind::BeforeSet(from) | ast::UpdateTableFromKind::AfterSet(from)) =
            &update.from
        {
            for table in from {
                self.sources(table, &mut write.sources, &mut write.join_conditions);
            }
        }
        write.assignments = self.assignments(&update.assignments);
        write.predicate = update.selection.as_ref().map(|e| self.expr(e));
        write.returning = self.returning(update.returning.as_deref());
        Some(write)
    }

    fn delete(&self, delete: &ast::Delete) -> Option<Write> {
        let (ast::FromTable::WithFromKeyword(from) | ast::FromTable::WithoutKeyword(from)) = &delete.from;
        let first = from.first()?;
        let mut write = self.target(&first.relation, WriteVerb::Delete)?;
        self.joins(&first.joins, &mut write.sources, &mut write.join_conditions);
        for table in from.iter().skip(1).chain(delete.using.iter().flatten()) {
            self.sources(table, &mut write.sources, &mut write.join_conditions);
        }
        if let Some(named) = delete.tables.first() {
            self.retarget(&mut write, &self.source.table(named));
        }
        write.predicate = delete.selection.as_ref().map(|e| self.expr(e));
        write.returning = self.returning(delete.returning.as_deref());
        Some(write)
    }

    /// `DELETE b FROM a JOIN b …`: the target is one of the joined tables.
    fn retarget(&self, write: &mut Write, named: &TableName) {
        let is_named = |alias: Option<&String>, table: &TableName| {
            alias.is_some_and(|a| *a == named.name) || table.name == named.name
        };
        if is_named(write.alias.as_ref(), &write.table) {
            return;
        }
        let found = write.sources.iter_mut().find_map(|source| match &mut source.kind {
            SourceKind::Table(table) if is_named(source.alias.as_ref(), table) => {
                Some((&mut source.alias, table))
            }
            _ => None,
        });
        if let Some((alias, table)) = found {
            std::mem::swap(&mut write.alias, alias);
            std::mem::swap(&mut write.table, table);
        }
    }

    fn insert(&self, insert: &ast::Insert) -> Option<Write> {
        let ast::TableObject::TableName(name) = &insert.table else {
            return None;
        };
        let alias = insert.insert_alias.as_ref().map(|a| self.source.table(&a.row_alias).name);
        let to = self.with_row_alias(alias);
        let replaces = insert.replace_into || matches!(insert.or, Some(ast::SqliteOnConflict::Replace));
        let verb = if replaces { WriteVerb::Replace } else { WriteVerb::Insert };
        let mut write = Write::new(verb, self.source.table(name), self.source.name_span(name));
        write.alias = insert.table_alias.as_ref().map(|a| self.source.name(&a.alias));
        write.insert_columns = insert.columns.iter().map(|c| self.source.table(c).name).collect();
        if let Some(query) = &insert.source {
            to.inserted_rows(query, &mut write);
        }
        for assignment in to.assignments(&insert.assignments) {
            write.insert_columns.push(assignment.column);
            write.insert_values.push(assignment.value);
        }
        write.skips_conflicts = insert.ignore || matches!(insert.or, Some(ast::SqliteOnConflict::Ignore));
        to.on_conflict(insert.on.as_ref(), &mut write);
        write.returning = self.returning(insert.returning.as_deref());
        Some(write)
    }

    fn inserted_rows(&self, query: &ast::Query, write: &mut Write) {
        write.ctes = self.ctes(query.with.as_ref());
        match &*query.body {
            ast::SetExpr::Values(values) => {
                let first = values.rows.first().map(|r| r.content.as_slice());
                write.insert_values = first.unwrap_or_default().iter().map(|e| self.expr(e)).collect();
            }
            _ => {
                let select = self.select(query);
                write.sources.push(Source { alias: None, kind: SourceKind::Query(Box::new(select)) });
            }
        }
    }

    fn on_conflict(&self, on: Option<&ast::OnInsert>, write: &mut Write) {
        match on {
            Some(ast::OnInsert::DuplicateKeyUpdate(assignments)) => {
                write.verb = WriteVerb::DuplicateKeyUpdate;
                write.assignments = self.assignments(assignments);
            }
            Some(ast::OnInsert::OnConflict(conflict)) => {
                if let Some(ast::ConflictTarget::Columns { predicate: Some(predicate), .. }) =
                    &conflict.conflict_target
                {
                    write.conflict_predicate = Some(self.expr(predicate));
                }
                write.skips_conflicts |= matches!(conflict.action, ast::OnConflictAction::DoNothing);
                if let ast::OnConflictAction::DoUpdate(update) = &conflict.action {
                    write.verb = WriteVerb::Upsert;
                    write.assignments = self.assignments(&update.assignments);
                    write.predicate = update.selection.as_ref().map(|e| self.expr(e));
                }
            }
            _ => {}
        }
    }

    fn merge(&self, merge: &ast::Merge) -> Option<Write> {
        let mut write = self.target(&merge.table, WriteVerb::Merge)?;
        write.sources.push(self.source(&merge.source));
        write.join_conditions.push(self.expr(&merge.on));
        let mut predicates = Vec::new();
        let mut open = false;
        let mut changes = false;
        for clause in &merge.clauses {
            let own = match &clause.action {
                ast::MergeAction::Update(update) => {
                    if let ast::MergeUpdateKind::Set(assignments) = &update.kind {
                        write.assignments.extend(self.assignments(assignments));
                    }
                    update.update_predicate.as_ref()
                }
                ast::MergeAction::Delete { .. } => None,
                ast::MergeAction::Insert(insert) => {
                    write.insert_columns = insert.columns.iter().map(|c| self.source.table(c).name).collect();
                    if let ast::MergeInsertKind::Values(values) = &insert.kind {
                        let first = values.rows.first();
                        write.insert_values =
                            first.into_iter().flat_map(|row| row.iter().map(|e| self.expr(e))).collect();
                    }
                    continue;
                }
                _ => continue,
            };
            changes = true;
            match clause.predicate.as_ref().or(own) {
                Some(predicate) => predicates.push(self.expr(predicate)),
                None => open = true,
            }
        }
        if !changes {
            write.verb = WriteVerb::Insert;
        } else if !open && predicates.len() == 1 {
            write.predicate = predicates.pop();
        } else if !open {
            let span = predicates.iter().map(|p| p.span).reduce(Span::to).unwrap_or_default();
            write.predicate = Some(Expr { span, kind: ExprKind::Or(predicates) });
        }
        Some(write)
    }

    fn assignments(&self, assignments: &[ast::Assignment]) -> Vec<Assignment> {
        let mut found = Vec::new();
        for assignment in assignments {
            let value = self.expr(&assignment.value);
            match &assignment.target {
                ast::AssignmentTarget::ColumnName(name) => found.push(self.assignment(name, value)),
                ast::AssignmentTarget::Tuple(names) => {
                    let values = match value.kind {
                        ExprKind::Tuple(list) if list.len() == names.len() => {
                            list.into_iter().map(Some).collect()
                        }
                        _ => vec![None; names.len()],
                    };
                    for (name, value) in names.iter().zip(values) {
                        let unknown =
                            Expr { span: self.source.name_span(name), kind: ExprKind::Other(Vec::new()) };
                        found.push(self.assignment(name, value.unwrap_or(unknown)));
                    }
                }
            }
        }
        found
    }

    fn assignment(&self, name: &ast::ObjectName, value: Expr) -> Assignment {
        let mut span = self.source.name_span(name);
        if value.span.end > value.span.start {
            span = span.to(value.span);
        }
        Assignment { column: self.source.table(name).name, value, span }
    }

    fn returning(&self, items: Option<&[ast::SelectItem]>) -> Option<Vec<String>> {
        items.map(|items| {
            let column = |item: &ast::SelectItem| match item {
                ast::SelectItem::UnnamedExpr(e) | ast::SelectItem::ExprWithAlias { expr: e, .. } => {
                    match self.expr(e).kind {
                        ExprKind::Column { name, .. } => Some(name),
                        _ => None,
                    }
                }
                ast::SelectItem::Wildcard(_) => Some("*".to_owned()),
                _ => None,
            };
            items.iter().filter_map(column).collect()
        })
    }
}
