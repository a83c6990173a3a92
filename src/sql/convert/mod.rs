//! From the grammar's tree to the facts. No type of the parser leaves this room.
//!
//! The tree is only borrowed, never cloned: cloning recurses as deep as the tree.

mod ddl;
mod expr;
mod select;
mod write;

use std::cell::Cell;

use sqlparser::ast;

use super::source::Source;
use crate::facts::sql::StatementKind;

/// Deeper expressions than this become [`crate::facts::sql::ExprKind::Other`] without content.
const DEEPEST: usize = 120;

pub(super) struct Converter<'a> {
    source: &'a Source<'a>,
    depth: Cell<usize>,
    /// The name that `INSERT … AS n` gives the new row.
    row_alias: Option<String>,
}

impl<'a> Converter<'a> {
    pub(in crate::sql) fn new(source: &'a Source<'a>) -> Self {
        Self { source, depth: Cell::new(0), row_alias: None }
    }

    fn with_row_alias(&self, alias: Option<String>) -> Self {
        Self { source: self.source, depth: Cell::new(self.depth.get()), row_alias: alias }
    }
}

/// `None` when the tree is of no statement we know how to read.
pub(super) fn statement(to: &Converter<'_>, statement: &ast::Statement) -> Option<StatementKind> {
    use ast::Statement as S;
    match statement {
        S::Query(query) => Some(to.query_statement(query)),
        S::Update(_) | S::Delete(_) | S::Insert(_) | S::Merge(_) => {
            to.write(statement).map(|w| StatementKind::Write(Box::new(w)))
        }
        S::CreateTable(table) => Some(StatementKind::CreateTable(to.create_table(table))),
        S::AlterTable(table) => Some(StatementKind::AlterTable(to.alter_table(table))),
        S::CreateIndex(index) => Some(to.create_index(index)),
        S::RenameTable(renames) => to.rename_table(renames),
        S::Drop { object_type: ast::ObjectType::Table, names, .. } => {
            Some(StatementKind::DropTable { tables: names.iter().map(|n| to.source.table(n)).collect() })
        }
        S::Drop { object_type: ast::ObjectType::Index, names, table, .. } => Some(StatementKind::DropIndex {
            names: names.iter().map(|n| to.source.table(n).name).collect(),
            table: table.as_ref().map(|n| to.source.table(n)),
        }),
        S::DropTrigger(drop) => Some(StatementKind::DropTrigger {
            name: to.source.table(&drop.trigger_name).name,
            table: drop.table_name.as_ref().map(|n| to.source.table(n)),
        }),
        _ => Some(super::extract::other(to.source)),
    }
}
